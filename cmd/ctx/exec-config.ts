// tsh.config: shows and changes `tool/tsh.d/config`, which bounds what sessions have loaded. A change is
// checked as a whole before anything is written, keeps every comment, and needs the caller's own right
// to write the file: in a sandbox, where the tree is read-only, it only shows.

import { readFileSync } from "node:fs";
import { CodedError, fail } from "../../internal/abi/mod.ts";
import { note, print } from "../../internal/cli/mod.ts";
import { parseToolControl } from "../../internal/control/mod.ts";
import { openTree, readControl, resolvePlaces, writeControl } from "../../internal/tree/mod.ts";
import { answerNative } from "./exec-file-tool.ts";
import { parseJson, readInput, toolInputBytesMax } from "./exec-input.ts";

const control = "tool/tsh.d/config";

const keys = ["max_loaded_tools", "cache_capacity", "window_percent"] as const;

type Change = ReadonlyMap<string, string>;

/** `object` is the tool's own path, which says in which tree it is. */
export function runConfig(object: string, words: readonly string[]): number {
  if (process.env["CTX_TOOL_MODE"] !== "native") {
    print(configure(object, changeOf(words)).trimEnd());
    return 0;
  }
  return configNative(object, () => readInput(toolInputBytesMax));
}

/** One native call; whatever keeps it from being done is an answer too. */
export function configNative(object: string, input: () => string): number {
  try {
    const content = configure(object, fieldsOf(parseJson(input())));
    return answerNative({ status: "ok", content });
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    const { code, message, hint } = error;
    const tail = hint === undefined ? "" : `\nhint: ${hint}`;
    return answerNative({ status: "error", code, content: `${message} [${code}]${tail}` });
  }
}

/** One JSON object, or KEY=VALUE words. Throws EINVAL. */
function changeOf(words: readonly string[]): Change {
  const [first] = words;
  if (words.length === 1 && first?.startsWith("{")) return fieldsOf(parseJson(first));
  const pairs = words.map((word) => {
    const equals = word.indexOf("=");
    if (equals > 0) return [word.slice(0, equals), word.slice(equals + 1)] as const;
    note(`Usage: tsh.config [KEY=VALUE...]     keys: ${keys.join(" ")}`);
    return fail("EINVAL", `${JSON.stringify(word)} is not KEY=VALUE`);
  });
  return known(pairs);
}

function fieldsOf(value: unknown): Change {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return fail("EINVAL", "tsh.config takes one JSON object");
  }
  return known(Object.entries(value).map(([key, one]) => [key, String(one)] as const));
}

function known(pairs: readonly (readonly [string, string])[]): Change {
  const change = new Map<string, string>();
  for (const [key, value] of pairs) {
    if (!keys.some((name) => name === key)) {
      fail("EINVAL", `tsh.config does not know ${JSON.stringify(key)}`, {
        hint: `it knows ${keys.join(", ")}`,
      });
    }
    if (change.has(key)) fail("EINVAL", `${key} is given twice`);
    change.set(key, value);
  }
  return change;
}

/** Makes the change and gives the configuration that is in force then, a line a key. */
function configure(object: string, change: Change): string {
  if (isSandbox()) return configureInSandbox(change);
  const root = object.slice(0, -"/tool/tsh.config".length);
  const source = root === "/ctx" ? undefined : root;
  const uid = process.getuid?.() ?? 0;
  const tree = openTree(resolvePlaces({ source, env: process.env, uid }).source);
  try {
    const before = orEmpty(() => readControl(tree, control));
    if (change.size === 0) return shown(before);
    const text = changed(before, change);
    writeControl(tree, control, text);
    return shown(text);
  } finally {
    tree.close();
  }
}

/** The view is no tree, and read-only. */
function configureInSandbox(change: Change): string {
  const text = orEmpty(() => readFileSync(`/ctx/${control}`, "utf8"));
  if (change.size === 0) return shown(text);
  changed(text, change);
  return fail("EROFS", "tsh.config cannot change the tree from within a sandbox", {
    hint: "a person does it with ctx tool tsh.config KEY=VALUE",
  });
}

function isSandbox(): boolean {
  return process.env["CTX_ROOT"] === "/ctx" && Boolean(process.env["CTX_AGENT"]);
}

function orEmpty(read: () => string): string {
  try {
    return read();
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return "";
    throw error;
  }
}

function shown(text: string): string {
  const parsed = parseToolControl("config", text);
  if (!parsed.ok) {
    const { code, reason, line, column } = parsed;
    return fail(code, reason, { place: { file: control, line, column } });
  }
  const { maxLoadedTools, cacheCapacity, windowPercent } = parsed.value;
  const values = [maxLoadedTools, cacheCapacity, windowPercent];
  return keys.map((key, index) => `${key}=${values[index]}\n`).join("");
}

/** The text with each key's line replaced, or added at the end. Throws EINVAL with the reason. */
function changed(text: string, change: Change): string {
  const open = new Map(change);
  const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n");
  const next = lines.map((line) => {
    const key = keys.find((name) => line.startsWith(`${name}=`));
    const value = key === undefined ? undefined : open.get(key);
    if (key === undefined || value === undefined) return line;
    open.delete(key);
    return `${key}=${value}`;
  });
  for (const [key, value] of open) next.push(`${key}=${value}`);
  const whole = next.map((line) => `${line}\n`).join("");
  const parsed = parseToolControl("config", whole);
  return parsed.ok ? whole : fail("EINVAL", parsed.reason);
}
