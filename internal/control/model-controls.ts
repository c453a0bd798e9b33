// The controls of a model object, one row each. `session` is a folder and has no text.

import type { ModelRef } from "../abi/mod.ts";
import { type JsonObject, parseJsonLines, parseJsonObject } from "./json.ts";
import { parseFallback } from "./model-choice.ts";
import { parseAllowLines } from "./policy-lines.ts";
import { type ControlTable, optional, required, runtimeOwned } from "./row.ts";
import { decimal, objectNameItem, single, u32Max, word } from "./scalar.ts";
import { accept, type Line, parseList, refuse } from "./text.ts";
import type { AllowLine, Parsed } from "./types.ts";

export interface ModelControlValues {
  /** What the provider calls the model. */
  readonly id: string;
  /** The adapter, e.g. `openai.chat` or `debug.echo`. */
  readonly driver: string;
  readonly cap: readonly string[];
  readonly effort: (typeof effortWords)[number];
  /** Default parameters of a call. */
  readonly default: JsonObject;
  readonly fallback: readonly ModelRef[];
  /** Context limit in tokens. Written by whoever learns it from the provider, never by a person. */
  readonly limit: "unknown" | number;
  readonly policy: readonly AllowLine[];
  readonly status: string;
  readonly log: readonly JsonObject[];
}

export type ModelControlName = keyof ModelControlValues;

const effortWords = ["auto", "low", "medium", "high", "xhigh"] as const;

export const modelCapWords = [
  "chat",
  "stream",
  "session",
  "vision",
  "audio_input",
  "audio_output",
  "json_schema",
  "tool_call_syntax",
  "reasoning",
  "embedding",
  "rerank",
] as const;

export const modelControls: ControlTable<ModelControlValues> = {
  id: required(single(modelIdItem)),
  driver: required(single(objectNameItem("driver"))),
  cap: optional((text) => parseList(text, word("cap", modelCapWords), "refused"), []),
  effort: optional(single(word("effort", effortWords)), "auto"),
  default: optional(parseJsonObject),
  fallback: optional(parseFallback, []),
  limit: { ...runtimeOwned(single(limitItem)), absent: "unknown" },
  policy: optional(parseAllowLines),
  status: runtimeOwned(single(objectNameItem("status"))),
  log: runtimeOwned(parseJsonLines),
};

export function parseModelControl<N extends ModelControlName>(
  name: N,
  text: string,
): Parsed<ModelControlValues[N]> {
  return modelControls[name].parse(text);
}

/** Bytes of a provider's model id. Past it EINVAL. */
const modelIdBytesMax = 256;

function modelIdItem(line: Line): Parsed<string> {
  const space = /\s/.exec(line.text);
  if (space) return refuse(line.number, space.index + 1, "model id holds a space");
  if (new TextEncoder().encode(line.text).length > modelIdBytesMax) {
    return refuse(line.number, 1, `model id is longer than ${modelIdBytesMax} bytes`);
  }
  return accept(line.text);
}

function limitItem(line: Line): Parsed<"unknown" | number> {
  return line.text === "unknown" ? accept("unknown") : decimal("limit", 1, u32Max)(line);
}
