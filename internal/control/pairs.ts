// Controls made of KEY=VALUE lines: an agent's `env`, the `config` of tsh and a tool's `mcp`
// locator. Nothing is expanded anywhere.

import { isObjectName, quoted } from "../abi/mod.ts";
import { decimal, pathFault, u32Max } from "./scalar.ts";
import { accept, type Line, parseItems, parseLines, refuse } from "./text.ts";
import type { Parsed } from "./types.ts";

interface Pair {
  readonly key: string;
  readonly value: string;
  readonly line: number;
  /** Column of the value's first character. */
  readonly at: number;
}

/** Splits at the first `=` and refuses a second line with the same key. */
function parsePairs(lines: readonly Line[], known?: readonly string[]): Parsed<readonly Pair[]> {
  const pairs: Pair[] = [];
  const seen = new Map<string, number>();
  for (const { text, number } of lines) {
    const equals = text.indexOf("=");
    if (equals < 0) return refuse(number, text.length + 1, "line is not KEY=VALUE");
    const key = text.slice(0, equals);
    if (known && !known.includes(key)) {
      return refuse(number, 1, `key ${quoted(key)} is not one of ${known.join(", ")}`);
    }
    const earlier = seen.get(key);
    if (earlier !== undefined) {
      return refuse(number, 1, `key ${quoted(key)} is set on line ${earlier} already`);
    }
    seen.set(key, number);
    pairs.push({ key, value: text.slice(equals + 1), line: number, at: equals + 2 });
  }
  return accept(pairs);
}

const variableGrammar = /^[A-Za-z_][A-Za-z0-9_]*$/;

export function parseEnv(text: string): Parsed<ReadonlyMap<string, string>> {
  const lines = parseLines(text);
  if (!lines.ok) return lines;
  const blank = lines.value.find((line) => line.text.trim() === "");
  if (blank) return refuse(blank.number, 1, "line is blank");
  const pairs = parsePairs(lines.value);
  if (!pairs.ok) return pairs;
  const env = new Map<string, string>();
  for (const { key, value, line } of pairs.value) {
    if (!variableGrammar.test(key)) {
      const reason = `variable name ${quoted(key)} is not letters, digits and "_"`;
      return refuse(line, 1, reason);
    }
    if (key.startsWith("CTX_")) {
      return refuse(line, 1, `variable ${key} belongs to the runtime, CTX_ names cannot be set`);
    }
    env.set(key, value);
  }
  return accept(env);
}

/** Bounds of the tool shell's metadata cache. */
export interface ShellConfig {
  readonly maxLoadedTools: number;
  readonly cacheCapacity: number;
  readonly windowPercent: number;
}

export const shellConfigDefault: ShellConfig = {
  maxLoadedTools: 64,
  cacheCapacity: 32,
  windowPercent: 1,
};

/** `tsh.d/config`: blank lines, `#` comments and three numbers, each with its default. */
export function parseShellConfig(text: string): Parsed<ShellConfig> {
  const lines = parseLines(text);
  if (!lines.ok) return lines;
  const said = lines.value.filter((line) => !/^\s*(#|$)/.test(line.text));
  const pairs = parsePairs(said, ["max_loaded_tools", "cache_capacity", "window_percent"]);
  if (!pairs.ok) return pairs;
  const values = new Map<string, number>();
  for (const { key, value, line, at } of pairs.value) {
    const max = key === "window_percent" ? 100 : u32Max;
    const number = decimal(key, 1, max)({ text: value, number: line });
    if (!number.ok) return { ...number, column: number.column + at - 1 };
    values.set(key, number.value);
  }
  return accept({
    maxLoadedTools: values.get("max_loaded_tools") ?? shellConfigDefault.maxLoadedTools,
    cacheCapacity: values.get("cache_capacity") ?? shellConfigDefault.cacheCapacity,
    windowPercent: values.get("window_percent") ?? shellConfigDefault.windowPercent,
  });
}

/** Where a projected tool's server is described. It is a locator: it carries no secret. */
export interface McpLocator {
  readonly transport: "stdio";
  readonly config: string;
  readonly server: string;
  readonly tool: string;
}

/** `mcp`: exactly the four keys, in any order. */
export function parseMcp(text: string): Parsed<McpLocator> {
  const lines = parseItems(text);
  if (!lines.ok) return lines;
  const keys = ["transport", "config", "server", "tool"];
  const pairs = parsePairs(lines.value, keys);
  if (!pairs.ok) return pairs;
  const values = new Map<string, string>();
  for (const pair of pairs.value) {
    const reason = mcpFault(pair);
    if (reason !== undefined) return refuse(pair.line, pair.at, reason);
    values.set(pair.key, pair.value);
  }
  const missing = keys.find((key) => !values.has(key));
  if (missing !== undefined) {
    return refuse(lines.value.length + 1, 1, `key "${missing}" is missing`);
  }
  return accept({
    transport: "stdio",
    config: values.get("config") ?? "",
    server: values.get("server") ?? "",
    tool: values.get("tool") ?? "",
  });
}

function mcpFault({ key, value }: Pair): string | undefined {
  if (key === "transport") {
    return value === "stdio" ? undefined : `transport ${quoted(value)} is not "stdio"`;
  }
  if (key === "config") return pathFault(value)?.reason;
  if (key === "server") {
    return isObjectName(value) ? undefined : `server name ${quoted(value)} is not valid`;
  }
  return value === "" ? "tool name is empty" : undefined;
}
