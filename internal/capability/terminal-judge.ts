// Says of one line of a terminal's calls what it is and what is wrong with it: a request has `op`, what
// follows an offer has `type`, the answer to a word has `ok`.

import { fail, type Judgement, quoted } from "../abi/mod.ts";
import {
  fitsBytes,
  type JsonObject,
  type LineRefusal,
  member,
  readJsonLine,
  refusal,
  shapeRefusal,
  utf8Bytes,
  valueFault,
} from "../frame/mod.ts";
import { capabilityIdBytesMax, capabilityLineBytesMax } from "./bounds.ts";
import { loadWords } from "./terminal-frames.ts";
import {
  hostKinds,
  requestKinds,
  shellKinds,
  type TerminalKind,
  terminalShapeOf,
} from "./terminal-shape.ts";

export type ReadTerminal =
  | { readonly ok: true; readonly kind: TerminalKind; readonly value: JsonObject }
  /** `given` is what JSON had there, when it was an object. */
  | { readonly ok: false; readonly refusal: LineRefusal; readonly given?: JsonObject };

/** A line without its LF. The value has the known members alone, in canonical order. */
export function readTerminalCall(line: string): ReadTerminal {
  const parsed = readJsonLine(line, capabilityLineBytesMax);
  if (!parsed.ok) return { ok: false, refusal: parsed };
  const given = parsed.value;
  const kind = kindOf(given);
  if (typeof kind !== "string") return { ok: false, refusal: kind, given };
  const shaped = terminalShapeOf(kind)(given);
  if (!shaped.success) {
    return { ok: false, refusal: shapeRefusal(given, shaped.error.issues), given };
  }
  const wrong = ruleFault(shaped.data);
  return wrong === undefined
    ? { ok: true, kind, value: shaped.data }
    : { ok: false, refusal: wrong, given };
}

export function judgeTerminalCall(line: string): Judgement {
  const read = readTerminalCall(line);
  return read.ok ? { ok: true, kind: read.kind } : read.refusal;
}

/** Decodes and encodes a line; the answer ends in LF. Throws what the judge would say. */
export function canonicalTerminalCall(line: string): string {
  const read = readTerminalCall(line);
  if (read.ok) return `${JSON.stringify(read.value)}\n`;
  return fail(read.refusal.code, read.refusal.message);
}

function kindOf(value: JsonObject): TerminalKind | LineRefusal {
  if (Object.hasOwn(value, "op")) {
    const op = member(value, "op");
    const request = requestKinds.find((one) => one === op);
    if (request !== undefined) return request;
    const what = typeof op === "string" ? `op ${quoted(op)} is not known` : "op is not a string";
    return refusal("schema", "/op", what);
  }
  if (!Object.hasOwn(value, "type")) {
    if (Object.hasOwn(value, "ok")) return "answer";
    return refusal("schema", "/type", `field "type" is missing`);
  }
  const type = member(value, "type");
  const kind = [...hostKinds, ...shellKinds].find((one) => one === type);
  if (kind !== undefined) return kind;
  const what = typeof type === "string" ? `line ${quoted(type)} is not known` : "type is no text";
  return refusal("schema", "/type", what);
}

/** The first rule that a value of the right shape breaks. `rules.json` lists these. */
function ruleFault(value: JsonObject): LineRefusal | undefined {
  for (const name of ["request_id", "id", "run"]) {
    const text = member(value, name);
    if (typeof text !== "string" || fitsBytes(text, capabilityIdBytesMax)) continue;
    const size = `${utf8Bytes(text)} bytes, at most ${capabilityIdBytesMax} are allowed`;
    return refusal("rule", `/${name}`, `field "${name}" has ${size}`);
  }
  const data = member(value, "data");
  if (typeof data === "string" && bytesOfBase64(data) === undefined) {
    return refusal("rule", "/data", `field "data" is not base64 with its padding`);
  }
  const words = member(value, "args");
  return wordsFault(words as readonly string[] | undefined) ?? valueFault(value);
}

/** Undefined for the words of a request that can be served, and for what has no words. */
function wordsFault(words: readonly string[] | undefined): LineRefusal | undefined {
  if (words === undefined) return undefined;
  const [word = "", ...names] = words;
  if (!loadWords.some((one) => one === word)) {
    return refusal("rule", "/args/0", `${quoted(word)} is none of ${loadWords.join(", ")}`);
  }
  if ((word === "loads") === (names.length === 0)) return undefined;
  const takes = word === "loads" ? "no name" : "at least one name";
  return refusal("rule", "/args", `${quoted(word)} takes ${takes}`);
}

/** Undefined for a text that no encoder writes: without its padding, or with bits after the end. */
export function bytesOfBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.fromBase64(text, { lastChunkHandling: "strict" });
  } catch {
    return undefined;
  }
}
