// Bounds of the clients of one terminal, with what happens at each. All clients read one stream, and
// what waits for each is its last part: their queues share memory, which the longest one bounds.

/** Clients of one terminal, those included that have not said what they want. Past it `busy`. */
export const terminalClientsMax = 64;

/** Bytes queued for one client. Past it, with no byte taken for `clientStallMs`: slow_consumer. */
export const clientQueueBytesMax = 8 * 1024 * 1024;

/** Time without a byte taken that drops a client whose queue is past its bound. */
export const clientStallMs = 1000;

/** Bytes queued for one client past which it is dropped at once, however it reads. */
export const clientQueueBytesHardMax = 16 * 1024 * 1024;

/**
 * Bytes queued for a client that reads past which the terminal is read no faster than the client, so
 * that a reader that is merely scheduled late loses nothing. It ends for a client that stalls.
 */
export const clientPaceBytes = 1024 * 1024;

/** Time without a byte taken after which the terminal's speed is no longer fitted to a client. */
export const clientPaceIdleMs = 200;

/** A client that takes fewer bytes a second than this is not waited for. */
export const clientPaceRateMin = 2 * 1024 * 1024;

/** Span over which that rate is measured. */
export const clientPaceWindowMs = 250;

/** Input of one client that waits for the terminal. Past it the client is read no further. */
export const clientInputBytesMax = 256 * 1024;

/** Time that a dropped client has to read why, with nothing kept for it but that. Then it is cut. */
export const clientFarewellMs = 120_000;

/** Output kept for those who wait for a snapshot. Past it a newer snapshot is made for them. */
export const joinQueueBytesMax = 16 * 1024 * 1024;

/**
 * A piece of output up to this size is copied behind a header, once for all framed clients. A header
 * of its own costs each of them a write, which for larger pieces is less than the copy.
 */
export const framedCopyBytesMax = 16 * 1024;
