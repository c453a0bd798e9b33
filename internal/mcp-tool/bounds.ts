// Bounds of what is read about MCP servers. Each says its unit in its name and what happens past it.

/** One runtime configuration. Past it EMSGSIZE, the file is not read. */
export const configBytesMax = 1024 * 1024;

/** Servers in one configuration. Past it EINVAL. */
export const serversMax = 256;

/** Nested arrays and objects of a value that gets canonical bytes. Past it EINVAL. */
export const canonicalDepthMax = 128;

/** UTF-8 bytes of text that one result hands on. Past it the rest is cut on a character and named. */
export const resultTextBytesMax = 8 * 1024 * 1024;

/** Content blocks of one result that are mapped. Past it the rest is counted. */
export const resultBlocksMax = 4096;
