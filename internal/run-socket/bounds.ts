// Bounds of one run's capability socket. All of them are spent by one run on itself alone.

/** Connections open at a time. The next one gets `busy` and is closed. */
export const runConnectionsMax = 64;

/** Requests that are being served at a time. The next one gets `busy`; its id is used up. */
export const runRequestsAtOnceMax = 16;

/**
 * Lines and connections of one run, and so the request ids that are remembered for it, 4 MiB at the
 * most. Past it `busy` and the connection closes; the next run begins anew.
 */
export const runAttemptsMax = 16_384;

/** Folders of all agents. Past it those without a run go, the one that was used least lately first. */
export const placesMax = 256;
