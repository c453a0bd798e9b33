// Bounds of a terminal's process, with what happens at each. Those of its clients are the machine's.

/** Time from accept to the whole first line. Past it ETIMEDOUT. */
export const terminalFirstLineMs = 3000;

/** Time in which one that may not join says in which form it wants to be told so. */
export const terminalRefusalMs = 200;

/** Time that a client which was told everything has to close. Past it the connection is cut. */
export const terminalLingerMs = 2000;

/** Clients that wait to be accepted. Past it connect(2) fails with EAGAIN. */
export const terminalBacklogLength = 128;

/** Span in which clients that are on their way still learn the child's end. Then nobody listens. */
export const terminalNewcomerMs = 200;

/** Time in which those are accepted that connected before connections were refused. */
export const terminalAcceptMs = 10;

/** Time that clients have to take what is left after the child's end. Then they are cut. */
export const terminalEndMs = 2000;

/** How often queues are looked at while something waits in one. */
export const terminalTickMs = 20;

/** Bytes of records that wait for who keeps them. Past it output is left out and told as a gap. */
export const recordQueueBytesMax = 8 * 1024 * 1024;

/** Time that the record stream has for its last bytes after the child's end. */
export const recordEndMs = 2000;

/** Bytes of one segment of the log. Past it a new one begins; one older one is kept. */
export const recordingBytesMax = 64 * 1024 * 1024;

/** Output of one turn that goes to clients, screen and recording as one. Past it, in several. */
export const terminalBlockBytes = 64 * 1024;

/** A piece of output of this size is worth handing on alone. */
export const terminalPieceBytes = 32 * 1024;
