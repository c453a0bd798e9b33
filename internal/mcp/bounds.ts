// Bounds of a conversation with an MCP server. Each says its unit in its name and what happens past it.

/** One line of a server's standard output. Past it the server is ended with EMSGSIZE. */
export const serverLineBytesMax = 16 * 1024 * 1024;

/** Bytes that wait for a server to read them. Past it the server is ended with `slow_consumer`. */
export const serverInputBytesMax = 32 * 1024 * 1024;

/** Messages that wait for it. Past it the same: small ones cost us more than the bytes that they have. */
export const serverInputLinesMax = 10_000;

/** One line of standard error that is handed on. Past it the rest of the line is cut. */
export const logLineBytesMax = 4 * 1024;

/** Pages of one `tools/list`. Past it EINVAL. */
export const pagesMax = 1000;

/** Tools of one server. Past it EINVAL. */
export const toolsMax = 10_000;

/** Bytes that all pages of one `tools/list` may have together. Past it EMSGSIZE. */
export const listBytesMax = 64 * 1024 * 1024;

/** Nested arrays and objects of a reply. Past it the request fails with EINVAL. */
export const replyDepthMax = 256;

/** From the start of a server until it has said what it is; npm may fetch it first. */
export const startMsDefault = 60_000;

/** One page of `tools/list`. Past it ETIMEDOUT. */
export const pageMsDefault = 30_000;

/** All pages of one `tools/list`. Past it ETIMEDOUT. */
export const listMs = 120_000;

/** What is still in a server's pipe is read for this long after its end. */
export const lastOutputMs = 250;

/** How long a server that has run a call is waited for once its input is closed; then SIGTERM. */
export const inputClosedGraceMs = 2000;

/** The same for one that was only asked what it has: there is nothing that it could have to finish. */
export const idleGraceMs = 250;
