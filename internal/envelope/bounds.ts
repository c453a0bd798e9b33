// Bounds of sdk-envelope-v1. They are part of the contract: an agent in any language counts on them.

import {
  inputBytesMax,
  observationBytesMax,
  opLineBytesMax,
  requestIdBytesMax,
} from "../abi/mod.ts";

/** The invocation, or one line that a step prints, LF included. Past it EMSGSIZE. */
export const envelopeLineBytesMax = opLineBytesMax;

/** All that one step prints. Past it EMSGSIZE and the step is ended. */
export const stepOutputBytesMax = 8 * 1024 * 1024;

/** UTF-8 bytes of `history_messages` and of `tool_context`, each. Past it EMSGSIZE. */
export const contextBytesMax = 64 * 1024;

/** UTF-8 bytes of an observation's content. Past it EMSGSIZE; the host cuts before it encodes. */
export const envelopeObservationBytesMax = observationBytesMax;

/** UTF-8 bytes of `input`. Past it EMSGSIZE. */
export const envelopeInputBytesMax = inputBytesMax;

/** UTF-8 bytes of `run` and of a call id. Past it EINVAL. */
export const envelopeIdBytesMax = requestIdBytesMax;

/** Calls of one run. One more is EMSGSIZE and ends the run. */
export const runCallsMax = 8;

/** Process starts of one run: the first, and one after each call. */
export const runStartsMax = runCallsMax + 1;
