// Bounds of one Unix socket connection, with what happens at each. Servers and clients may lower
// them, never do without them.

/** Connections one listening socket holds at a time. The next one gets `busy` and is closed. */
export const socketConnectionsMax = 1024;

/** Connections waiting in the kernel to be accepted. Past it connect(2) fails with EAGAIN. */
export const socketBacklogLength = 1024;

/**
 * Bytes queued for one peer behind what the kernel takes. A producer that awaits `send` never comes
 * near it; past it the peer is dropped with `slow_consumer`.
 */
export const outboundQueueBytesMax = 4 * 1024 * 1024;

/** Time without a byte taken by a peer that has bytes waiting. Past it: `slow_consumer`, dropped. */
export const outboundStallMs = 30_000;

/** Time from accept to the first whole line. Past it the server answers ETIMEDOUT and closes. */
export const firstLineMs = 30_000;

/**
 * Time that a connection which has said everything waits for its peer to close, so that an answer
 * sent before all input was read is not turned into a reset. Past it the connection is cut.
 */
export const lingerMs = 2_000;

/** Lines received and not yet taken by the reader. Past it the socket is not read until they are. */
export const inboundLinesMax = 16;

/** Time a client tries again while the server's backlog is full. Past it: `busy`. */
export const connectRetryMs = 2_000;
