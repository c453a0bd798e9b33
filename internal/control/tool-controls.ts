// The controls of a tool, one row each.

import { type JsonObject, parseJsonLines, parseJsonObject } from "./json.ts";
import { type McpLocator, parseMcp, parseShellConfig, type ShellConfig } from "./pairs.ts";
import { parseAllowLines } from "./policy-lines.ts";
import { type ControlTable, optional, required, runtimeOwned } from "./row.ts";
import { objectNameItem, single, word } from "./scalar.ts";
import { parseList, parseText, refuse } from "./text.ts";
import type { AllowLine, Parsed } from "./types.ts";

export interface ToolControlValues {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input. It grants nothing. */
  readonly schema: JsonObject;
  readonly cap: readonly string[];
  readonly policy: readonly AllowLine[];
  readonly program: JsonObject;
  readonly mcp: McpLocator;
  /** Of `tsh` alone. */
  readonly config: ShellConfig;
  readonly status: string;
  readonly log: readonly JsonObject[];
}

export type ToolControlName = keyof ToolControlValues;

const capWords = ["read", "write", "exec", "network"] as const;

/** An absent policy allows nothing, so it is no error; it only leaves the tool unused. */
export const toolControls: ControlTable<ToolControlValues> = {
  name: required(single(objectNameItem("tool"))),
  description: required(parseDescription),
  schema: required(parseJsonObject),
  cap: optional((text) => parseList(text, word("cap", capWords), "refused"), []),
  policy: optional(parseAllowLines),
  program: optional(parseJsonObject),
  mcp: optional(parseMcp),
  config: optional(parseShellConfig),
  status: runtimeOwned(single(objectNameItem("status"))),
  log: runtimeOwned(parseJsonLines),
};

export function parseToolControl<N extends ToolControlName>(
  name: N,
  text: string,
): Parsed<ToolControlValues[N]> {
  return toolControls[name].parse(text);
}

function parseDescription(text: string): Parsed<string> {
  const parsed = parseText(text);
  if (parsed.ok && text.trim() === "") return refuse(1, 1, "description is empty");
  return parsed;
}
