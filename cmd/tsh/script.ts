// Lines from a pipe or a file: each runs like a command line of its own. One byte is read at a time, so
// that the tools find what follows a line on their own standard input.

import { readSync } from "node:fs";
import { fail } from "../../internal/abi/mod.ts";
import { reportError, writeBytes } from "../../internal/cli/mod.ts";
import { commandsIn, lex, lineUnitsMax } from "../../internal/shell-line/mod.ts";
import { answerWord, exitStatus } from "./answer-word.ts";
import { runOnce } from "./one-shot.ts";
import { checkWords } from "./shell.ts";
import type { ToolPath } from "./tool-path.ts";
import { isBuiltinWord } from "./words.ts";

/** The status of the last command. A failed one does not end the rest. */
export async function runLines(path: ToolPath): Promise<number> {
  let status = 0;
  for (let text = nextText(); text !== undefined; text = nextText()) {
    try {
      for (const words of commandsIn(text)) {
        const [name = "", ...rest] = words;
        if (name === "exit") return exitStatus(rest, status);
        status = await runWords(path, name, rest);
      }
    } catch (error) {
      const report = reportError("tsh", error, process.env["CTX_DEBUG"] === "1");
      writeBytes(2, new TextEncoder().encode(report.text));
      status = report.exit;
    }
  }
  return status;
}

async function runWords(path: ToolPath, name: string, rest: readonly string[]): Promise<number> {
  if (!isBuiltinWord(name)) return runOnce(path, name, rest);
  const words = rest.filter((word) => word !== "--json");
  checkWords(name, words);
  return answerWord(() => path, name, words, words.length < rest.length);
}

/** A line, or as many as an open quote needs; undefined at the end of the input. */
function nextText(): string | undefined {
  let text = "";
  for (;;) {
    const line = nextLine();
    if (line === undefined) return text === "" ? undefined : text;
    text += line;
    if (text.length > lineUnitsMax) fail("EMSGSIZE", `a line is longer than ${lineUnitsMax}`);
    if (lex(text).open === undefined) return text;
    text += "\n";
  }
}

function nextLine(): string | undefined {
  const bytes: number[] = [];
  const one = new Uint8Array(1);
  for (;;) {
    if (readSync(0, one) === 0) {
      return bytes.length === 0 ? undefined : new TextDecoder().decode(Uint8Array.from(bytes));
    }
    if (one[0] === 0x0a) return new TextDecoder().decode(Uint8Array.from(bytes));
    bytes.push(one[0] as number);
    if (bytes.length > 4 * lineUnitsMax) fail("EMSGSIZE", "a line of the input is too long");
  }
}
