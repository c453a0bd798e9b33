// What one connection at an agent's socket speaks. Each version of the interaction protocol is one of
// these; whoever serves a connection deals in neutral requests and frames and asks the wire for lines.

import type { Code } from "../abi/mod.ts";
import type { OpRequest, SessionFrame } from "../interaction/mod.ts";

/** What a line asks, or why it asks nothing. */
export type Asked =
  | { readonly ok: true; readonly request: OpRequest }
  | { readonly ok: false; readonly code: Code; readonly message: string };

export interface AgentWire {
  /** A line that comes while the connection's stream runs. Never throws. */
  decodeBeside(line: string): Asked;
  /** One line with its LF, or "" for a frame that this wire has no form for. */
  encode(frame: SessionFrame): string;
  /** The line that tells an error which no record stands for. */
  error(code: Code, message: string): string;
}
