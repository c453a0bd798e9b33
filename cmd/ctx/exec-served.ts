// A tool that a server has: this process only asks; the host decides, calls and answers. In terminal
// mode the input is one JSON object, or words that the tool's own schema gives names and types to.

import { readFileSync } from "node:fs";
import { CodedError, coded, codes, fail } from "../../internal/abi/mod.ts";
import {
  isTerminal,
  note,
  print,
  printRaw,
  reportError,
  writeBytes,
} from "../../internal/cli/mod.ts";
import { askHost, codeOf, throwRefusal } from "./exec-capability.ts";
import { answerNative } from "./exec-file-tool.ts";
import { parseJson, readInput, toolInputBytesMax } from "./exec-input.ts";
import { namedWords, type Properties } from "./exec-words.ts";

interface Served {
  readonly status: "ok" | "error";
  readonly code?: CodedError["code"];
  readonly content: string;
}

export async function runServed(
  path: string,
  name: string,
  words: readonly string[],
): Promise<number> {
  // A command of shell.exec has the mode of the call that it is in, but its words are meant.
  if (words.length === 0 && process.env["CTX_TOOL_MODE"] === "native") return servedNative(name);
  const properties = propertiesOf(path);
  if (words.length === 0 && isTerminal(0) && Object.keys(properties).length > 0) {
    usage(name, properties);
    return 2;
  }
  return shown(name, await call(name, inputOf(name, words, properties)));
}

async function servedNative(name: string): Promise<number> {
  try {
    const text = readInput(toolInputBytesMax);
    return answerNative(await call(name, text.trim() === "" ? {} : parseJson(text)));
  } catch (error) {
    const { code, message, hint } = coded(error);
    const tail = hint === undefined ? "" : `\nhint: ${hint}`;
    return answerNative({ status: "error", code, content: `${message} [${code}]${tail}` });
  }
}

function inputOf(name: string, words: readonly string[], properties: Properties): unknown {
  const [first] = words;
  if (first === undefined) {
    if (isTerminal(0)) return {};
    const text = readInput(toolInputBytesMax);
    return text.trim() === "" ? {} : parseJson(text);
  }
  if (words.length === 1 && first.startsWith("{")) return parseJson(first);
  return namedWords(name, words, properties);
}

async function call(name: string, args: unknown): Promise<Served> {
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    fail("EINVAL", `${name} takes one JSON object`);
  }
  for await (const answer of askHost({ op: "tool.call", name, args })) {
    throwRefusal(answer);
    const { status, content, code } = answer["result"] as Record<string, unknown>;
    return {
      status: status === "ok" ? "ok" : "error",
      content: String(content),
      ...(code === undefined ? {} : { code: codeOf(code) }),
    };
  }
  return fail("EHOSTDOWN", "the host did not answer");
}

/** What the server said goes to standard output; why the call failed does not. */
function shown(name: string, { status, code, content }: Served): number {
  const ended = content === "" || content.endsWith("\n") ? content : `${content}\n`;
  if (code !== undefined) {
    const report = reportError(name, new CodedError(code, content.trim()), false);
    writeBytes(2, new TextEncoder().encode(report.text));
    return codes[code].exit;
  }
  if (isTerminal(1)) print(ended.replace(/\n$/, ""));
  else printRaw(ended);
  return status === "ok" ? 0 : 1;
}

function usage(name: string, properties: Properties): void {
  note(`Usage: ${name} [--NAME VALUE]… | '{…}'`);
  for (const [field, { type }] of Object.entries(properties)) {
    note(`  --${field} ${typeof type === "string" ? type : "JSON"}`);
  }
}

/** Of the schema that stands beside the tool; without one that can be read there are no names. */
function propertiesOf(path: string): Properties {
  try {
    const schema: unknown = JSON.parse(readFileSync(`${path}.d/schema`, "utf8"));
    const properties = (schema as { properties?: unknown }).properties;
    return typeof properties === "object" && properties !== null ? (properties as Properties) : {};
  } catch {
    return {};
  }
}
