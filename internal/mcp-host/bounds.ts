// Bounds of the servers of one run.

/** Servers of one run. Past it `busy`. */
export const runServersMax = 8;

/** From the start of the sandbox to a server that is ready. Past it ETIMEDOUT, and nothing is left. */
export const serverStartMsMax = 60_000;

/** How often a server that died may be started again for one run. Past it EIO. */
export const serverRestartsMax = 2;

/** How many times its own limit a call may take while its server reports progress. */
export const progressTimes = 10;

/** What a call may take with progress, whatever its own limit is; in milliseconds. */
export const callTotalMsMax = 60 * 60 * 1000;

/** How long after a call's own limits the host waits for word of it, before it ends the server. */
export const callGraceMs = 10_000;

/**
 * What a server gets to end by itself: its input closed, then SIGTERM, two seconds each. Then nothing
 * of its sandbox is left.
 */
export const serverEndMs = 5000;
