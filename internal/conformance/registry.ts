// The protocols of `abi/`, each with its folder and its judge. What is said of one protocol by the
// commands and by the tests is said of all of them through this table.

import { fail, type Judgement, opLineBytesMax, toolOutputBytesMax } from "../abi/mod.ts";
import {
  canonicalControl,
  canonicalTerminalCall,
  judgeControl,
  judgeTerminalCall,
} from "../capability/mod.ts";
import { canonicalEnvelope, judgeEnvelope } from "../envelope/mod.ts";
import { canonicalToolNative, judgeToolNative } from "../tool-native/mod.ts";
import {
  canonicalOp,
  canonicalV1,
  canonicalV2,
  judgeOp,
  judgeV1,
  judgeV2,
  v2LineBytesMax,
} from "../wire/mod.ts";

export interface Protocol {
  /** Its folder below `abi/`, which is also its name. */
  readonly name: string;
  /** What `--abi` takes as well. */
  readonly short: string;
  /** One line with its LF; `kinds.json` says the same. */
  readonly lineBytesMax: number;
  /** Says what is wrong with a line without its LF, bound included. */
  judge(line: string): Judgement;
  /** Decodes and encodes a line that is accepted; the answer ends in LF. */
  canonical(line: string): string;
}

export const protocols: readonly Protocol[] = [
  {
    name: "op/v1",
    short: "op",
    lineBytesMax: opLineBytesMax,
    judge: judgeOp,
    canonical: canonicalOp,
  },
  {
    name: "interaction/v1",
    short: "v1",
    lineBytesMax: opLineBytesMax,
    judge: judgeV1,
    canonical: canonicalV1,
  },
  {
    name: "interaction/v2",
    short: "v2",
    lineBytesMax: v2LineBytesMax,
    judge: judgeV2,
    canonical: canonicalV2,
  },
  {
    name: "sdk-envelope/v1",
    short: "sdk-envelope",
    lineBytesMax: opLineBytesMax,
    judge: judgeEnvelope,
    canonical: canonicalEnvelope,
  },
  {
    name: "control/v1",
    short: "control",
    lineBytesMax: opLineBytesMax,
    judge: judgeControl,
    canonical: canonicalControl,
  },
  {
    name: "tool-native/v1",
    short: "tool-native",
    lineBytesMax: toolOutputBytesMax,
    judge: judgeToolNative,
    canonical: canonicalToolNative,
  },
  {
    name: "terminal-call/v1",
    short: "terminal-call",
    lineBytesMax: opLineBytesMax,
    judge: judgeTerminalCall,
    canonical: canonicalTerminalCall,
  },
];

/** By name or short name. ENOENT with the names that there are. */
export function protocolNamed(name: string): Protocol {
  const found = protocols.find((one) => one.name === name || one.short === name);
  if (found !== undefined) return found;
  const known = protocols.map((one) => `${one.name} (${one.short})`).join(", ");
  return fail("ENOENT", `protocol ${JSON.stringify(name)} does not exist`, { hint: known });
}

/**
 * The protocol that a line seems to be of, by the members that tell the wires apart. A frame that
 * two wires know, such as a `delta`, is of the first one that accepts it. A tool's input may be any
 * object and is never guessed.
 */
export function recognise(line: string): Protocol | undefined {
  const value = objectOf(line);
  if (value === undefined) return undefined;
  const [op, v1, v2, envelope, control, native, calls] = protocols as [
    Protocol,
    Protocol,
    Protocol,
    Protocol,
    Protocol,
    Protocol,
    Protocol,
  ];
  if (value["abi"] === "cortexfs.interaction/v2") return v2;
  if (value["abi"] === "cortexfs.interaction/v1") return v1;
  if (typeof value["schema"] === "string") return envelope;
  if (value["type"] === "result") return native;
  if ("ok" in value) return typeof value["text"] === "string" ? calls : control;
  // Requests of both have an op; those of the capability socket alone have a request_id.
  if ("op" in value) {
    if (value["op"] === "terminal.serve") return calls;
    if (value["op"] === "tsh" && "request_id" in value) return calls;
    return firstThatAccepts(line, "request_id" in value ? [control, op] : [op, control]);
  }
  return "type" in value ? firstThatAccepts(line, [op, envelope, control, calls]) : undefined;
}

function firstThatAccepts(line: string, candidates: readonly Protocol[]): Protocol | undefined {
  return candidates.find((one) => one.judge(line).ok) ?? candidates[0];
}

function objectOf(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
