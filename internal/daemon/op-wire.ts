// The op wire on a connection: bare requests and frames, one JSON object a line, and no state.

import { decodeOpLine, encodeFrame } from "../interaction/mod.ts";
import type { AgentWire } from "./agent-wire.ts";

/** Event id of a frame that stands for no record: a cursor from which everything is replayed. */
export const noRecord = "0";

export const opWire: AgentWire = {
  decodeBeside: decodeOpLine,
  // `start` has said all that a client of this wire is told about the beginning of a run.
  encode: (frame) => (frame.type === "started" ? "" : encodeFrame(frame)),
  error: (code, message) => encodeFrame({ type: "error", id: noRecord, code, message }),
};
