// Tells by the first line of a connection which wire it speaks. A bare `op` is the op wire, and so is
// what cannot be told: then the answer is one op error frame. Everything that names an `abi` and no `op`
// is an envelope; its codecs are loaded by the first one, because most servers never see any.

import { decodeOpLine } from "../interaction/mod.ts";
import type { AgentWire, Asked } from "./agent-wire.ts";
import { opWire } from "./op-wire.ts";

export type Opening =
  | { readonly wire: AgentWire; readonly asked: Asked }
  /** Nothing is served; the answer is the last line. */
  | { readonly wire: undefined; readonly answer: string };

export async function openWire(line: string): Promise<Opening> {
  const asked = decodeOpLine(line);
  if (asked.ok || asked.code !== "unsupported_version") return { wire: opWire, asked };
  const { openEnvelope } = await import("./envelope.ts");
  return openEnvelope(line);
}
