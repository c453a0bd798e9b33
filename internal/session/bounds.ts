// Bounds of the session service that no other module needs.

/** What `history` gives to a prompt. Whole turns; the oldest leave first. */
export const historyBytesMax = 256 * 1024;

/** What stays of one text when a single turn alone is larger than the history may be. */
export const shortenedTextLength = 1024;

/** Live frames that one session keeps for slow readers, all readers together. Oldest are dropped. */
export const liveBytesMax = 256 * 1024;

/** Request ids that one session answers from memory; the oldest finished one is forgotten first. */
export const sessionRequestsMax = 16_384;

/** How long a stop waits for executors that were told to abort, in milliseconds. */
export const executorGraceMs = 10_000;

/** Between two tries to record the end of a run whose log was full, in milliseconds. */
export const endRetryMs = 1000;

/**
 * How long `state: active` and the indexes may wait before they are written, in milliseconds: a
 * short run then writes its derived files once, when it has ended.
 */
export const derivedDelayMs = 50;

/** How long a stop lets readers take the frames that end their streams, in milliseconds. */
export const readerGraceMs = 1000;
