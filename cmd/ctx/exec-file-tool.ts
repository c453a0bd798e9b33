// Runs one file tool as a process: native for the host, plain text for a person.

import { CodedError, codes } from "../../internal/abi/mod.ts";
import {
  type BuiltinName,
  type BuiltinResult,
  builtinFields,
  runBuiltin,
} from "../../internal/builtin/mod.ts";
import {
  escapeText,
  isTerminal,
  note,
  print,
  printRaw,
  reportError,
  writeBytes,
} from "../../internal/cli/mod.ts";
import { parseJson, readInput, toolInputBytesMax, wordsToInput } from "./exec-input.ts";

export async function runFileTool(name: BuiltinName, words: readonly string[]): Promise<number> {
  if (process.env["CTX_TOOL_MODE"] !== "native") return printResult(name, words);
  return runNative(name, () => readInput(toolInputBytesMax));
}

/** One native call; an input that cannot be read is an answer too. */
export async function runNative(name: BuiltinName, input: () => string): Promise<number> {
  return answerNative(await nativeResult(name, input));
}

async function nativeResult(name: BuiltinName, input: () => string): Promise<BuiltinResult> {
  try {
    return await runBuiltin(name, parseJson(input()), process.cwd());
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    return { status: "error", code: error.code, content: `${error.message} [${error.code}]` };
  }
}

/** One line of JSON; an error is in the line, so the exit status stays 0. */
export function answerNative(result: BuiltinResult): number {
  const { status, code } = result;
  const gap = result.content === "" || result.content.endsWith("\n") ? "" : "\n";
  const content = result.note === undefined ? result.content : result.content + gap + result.note;
  const line = { type: "result", status, content, ...(code === undefined ? {} : { code }) };
  printRaw(`${JSON.stringify(line)}\n`);
  return 0;
}

async function printResult(name: BuiltinName, words: readonly string[]): Promise<number> {
  const fields = builtinFields(name);
  if (words.length === 0 && isTerminal(0)) {
    print(`Usage: ${name} ${fields[0]} [${fields.slice(1).join("] [")}]`);
    print(`       ${name} '{"path":…}'`);
    return 2;
  }
  const input =
    words.length === 0
      ? parseJson(readInput(toolInputBytesMax))
      : wordsToInput(name, words, fields);
  const result = await runBuiltin(name, input, process.cwd(), "cli");
  if (result.status === "error") {
    const [message = "", hint] = result.content.split("\nhint: ");
    const code = result.code ?? "EIO";
    const bare = message.replace(/ \[[A-Za-z_]+\]$/, "");
    const detail = hint === undefined ? {} : { hint };
    const report = reportError(name, new CodedError(code, bare, detail), false);
    writeBytes(2, new TextEncoder().encode(report.text));
    return codes[code].exit;
  }
  printRaw(isTerminal(1) ? escapeText(result.content) : result.content);
  if (result.note !== undefined) note(result.note);
  return 0;
}
