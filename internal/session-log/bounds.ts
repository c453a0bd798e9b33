// Bounds of the on-disk log. Each says what happens past it.

/** One line of events.jsonl or messages.jsonl. Longer: EMSGSIZE on append, EIO when found on open. */
export const recordBytesMax = 4 * 1024 * 1024;

/** Bytes read at a time while a log is validated on open. */
export const scanChunkBytes = 256 * 1024;

/** Bytes of records that one `read` gives back; at least one record, however long it is. */
export const readBatchBytes = 32 * 1024;

/** Records between two entries of a new offset index; doubled when the index is full. */
export const indexStrideRecords = 128;

/** Entries of one offset index. Past it every other entry goes, so memory does not follow history. */
export const indexEntriesMax = 4096;

/** Complete message lines without their event that an open rolls forward. More is EIO. */
export const rollForwardMax = 64;

/** Request ids of one agent that stay claimed; the oldest is forgotten first. */
export const claimsMax = 16_384;

/** Bytes at the end of the claims in which a line must end; one claim is far shorter. */
export const claimsTailBytes = 64 * 1024;

/** What a temporary session may hold in memory. Past it an append fails with ENOSPC. */
export const memoryLogBytesMax = 32 * 1024 * 1024;

/** Format of the records that this build writes; a record that says a higher number is refused. */
export const recordFormat = 1;
