// A tool context as one line of JSON and back. The file can be made anew by loading the tools again,
// so a damaged one is no failure: it is a fresh state and a reason that somebody can be told.

import { isObjectName } from "../abi/mod.ts";
import { pinnedToolsMax, toolContextFileBytesMax, toolEntriesMax } from "./bounds.ts";
import { counterMax, sampleUses, sketchCounters } from "./sketch.ts";
import { freshToolContext, type ToolContext } from "./state.ts";

const schema = "cortexfs.tool-context/v1";

export interface DecodedToolContext {
  readonly state: ToolContext;
  /** Why the text was not used; undefined when it was. */
  readonly damage: string | undefined;
}

export function encodeToolContext({ pinned, loaded, tracking, sketch }: ToolContext): string {
  const counters = packed(sketch.counters).toHex();
  const { window, probation, protected: kept } = tracking;
  const { additions } = sketch;
  const value = { schema, pinned, loaded, window, probation, protected: kept, additions, counters };
  return `${JSON.stringify(value)}\n`;
}

/** Never throws. An absent text is a fresh state and no damage. */
export function decodeToolContext(text: string | undefined): DecodedToolContext {
  if (text === undefined) return { state: freshToolContext, damage: undefined };
  const decoded = text.length > toolContextFileBytesMax ? "it is too long" : decode(text);
  if (typeof decoded !== "string") return { state: decoded, damage: undefined };
  return { state: freshToolContext, damage: decoded };
}

/** The state, or what is wrong. */
function decode(text: string): ToolContext | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "it is not JSON";
  }
  if (typeof value !== "object" || value === null) return "it is not a JSON object";
  const fields = value as Readonly<Record<string, unknown>>;
  if (fields["schema"] !== schema) return `its schema is not "${schema}"`;
  const pinned = names(fields["pinned"], pinnedToolsMax);
  const loaded = names(fields["loaded"], toolEntriesMax);
  const window = names(fields["window"], toolEntriesMax);
  const probation = names(fields["probation"], toolEntriesMax);
  const kept = names(fields["protected"], toolEntriesMax);
  if (!(pinned && loaded && window && probation && kept)) return "a list of tools is malformed";
  const tracked = [...window, ...probation, ...kept];
  if (tracked.length > toolEntriesMax) return "it tracks too many tools";
  if (!(isDistinct([...pinned, ...loaded]) && isDistinct([...pinned, ...tracked]))) {
    return "a tool is listed twice";
  }
  const sketch = sketchOf(fields["counters"], fields["additions"]);
  if (sketch === undefined) return "its counters are malformed";
  return { pinned, loaded, tracking: { window, probation, protected: kept }, sketch };
}

function names(value: unknown, max: number): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length > max) return undefined;
  return value.every((one) => typeof one === "string" && isObjectName(one)) ? value : undefined;
}

function isDistinct(all: readonly string[]): boolean {
  return new Set(all).size === all.length;
}

function sketchOf(counters: unknown, additions: unknown) {
  if (typeof counters !== "string" || counters.length !== sketchCounters) return undefined;
  if (!/^[0-9a-f]*$/.test(counters) || !Number.isInteger(additions)) return undefined;
  const count = additions as number;
  if (count < 0 || count >= sampleUses(toolEntriesMax)) return undefined;
  return { counters: unpacked(Uint8Array.fromHex(counters)), additions: count };
}

/** Two counters a byte, so that each is one digit of the text. */
function packed(counters: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(counters.length / 2);
  for (let at = 0; at < bytes.length; at += 1) {
    bytes[at] = ((counters[2 * at] ?? 0) << 4) | (counters[2 * at + 1] ?? 0);
  }
  return bytes;
}

function unpacked(bytes: Uint8Array): Uint8Array {
  const counters = new Uint8Array(bytes.length * 2);
  bytes.forEach((byte, at) => {
    counters[2 * at] = byte >> 4;
    counters[2 * at + 1] = byte & counterMax;
  });
  return counters;
}
