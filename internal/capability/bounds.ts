// Bounds of control/v1, the run's capability socket.

import { inputBytesMax, opLineBytesMax, requestIdBytesMax } from "../abi/mod.ts";

/** One line of either side, LF included. Past it EMSGSIZE, then the connection closes. */
export const capabilityLineBytesMax = opLineBytesMax;

/** UTF-8 bytes of request ids, run ids and frame ids. Past it EINVAL. */
export const capabilityIdBytesMax = requestIdBytesMax;

/** UTF-8 bytes of the input that a started child gets. Past it EMSGSIZE. */
export const childInputBytesMax = inputBytesMax;

/** Entries of each list of an `agent.create` and layers of a decision. Past it EINVAL. */
export const capabilityListMax = 256;

/** Words of a call that a terminal shows. Past it EINVAL; the host shortens what it sends. */
export const shownWordsMax = 256;

/** Words of a request about what is loaded, the first one among them. Past it EINVAL. */
export const loadWordsMax = 256;

/** Milliseconds that a call in a terminal may take: what timers can wait. Past it EINVAL. */
export const terminalCallMsMax = 2 ** 31 - 1;
