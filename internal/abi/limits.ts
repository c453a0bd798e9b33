// Bounds that more than one module must agree on. Each says its unit in its name and, here, what
// happens past it. A bound that one module alone uses lives in that module.

/** One line of an op or v1 connection, newline included. Past it: one EMSGSIZE frame, then close. */
export const opLineBytesMax = 1024 * 1024;

/** One control file. Past it: EMSGSIZE, the file is not read. */
export const controlBytesMax = 256 * 1024;

/** The text of one `send`. Past it EMSGSIZE before the id is claimed. */
export const inputBytesMax = 512 * 1024;

/** Request ids and other client-chosen identifiers. Past it EINVAL. */
export const requestIdBytesMax = 256;

/** The reason that an answer to an approval request may give. Past it EMSGSIZE, and it denies. */
export const approvalReasonBytesMax = 4 * 1024;

/** UTF-8 bytes that an agent may put in place of a prompt control of its own. Past it EMSGSIZE. */
export const updateContentBytesMax = 8 * 1024;

/** Accepted inputs that wait behind a session's active run. Past it `busy`, id unclaimed. */
export const sessionQueueLengthMax = 16;

/** What the model is handed of one tool result. Past it: cut on a character, `truncated: true`. */
export const observationBytesMax = 16 * 1024;

/** What is kept of one tool result on disk. Past it only the first and last parts stay. */
export const toolOutputBytesMax = 8 * 1024 * 1024;

/** Model steps in one run of a model agent (host setting `model_steps`). Past it: error EMSGSIZE. */
export const modelStepsMax = 64;

/** Grace between SIGTERM and SIGKILL of a process tree, in milliseconds. */
export const killGraceMs = 2000;

/**
 * UTF-16 units of text in one frame: each takes at most six bytes of JSON, so a frame of this much
 * text fits a line. Longer texts go in several messages or frames; nothing is cut.
 */
export const frameTextUnitsMax = 160 * 1024;

/** Bytes of a frame's line that are not its longest text: ids, names and the other fields. */
export const frameEnvelopeBytesMax = 16 * 1024;
