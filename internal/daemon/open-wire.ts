// Tells by the first line of a connection which wire it speaks. A bare `op` is the op wire, and so is
// what cannot be told: then the answer is one op error frame.

import { decodeOpLine } from "../interaction/mod.ts";
import type { AgentWire, Asked } from "./agent-wire.ts";
import { opWire } from "./op-wire.ts";

export type Opening =
  | { readonly wire: AgentWire; readonly asked: Asked }
  | { readonly wire: undefined; readonly answer: string };

export async function openWire(line: string): Promise<Opening> {
  return { wire: opWire, asked: decodeOpLine(line) };
}
