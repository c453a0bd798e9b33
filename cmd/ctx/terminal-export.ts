// `ctx terminal export`: what a terminal showed, as an asciicast that players show.

import { closeSync } from "node:fs";
import { fail } from "../../internal/abi/mod.ts";
import { escapeJson, note, printRaw, unreadable } from "../../internal/cli/mod.ts";
import { openPath, writeAll } from "../../internal/os/mod.ts";
import { asciicastLines } from "../../internal/terminal-wire/mod.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { historyOf, openTerminal, terminalOptions, terminalWord } from "./terminal-word.ts";

export const spec: CommandSpec = {
  name: "terminal export",
  words: "<terminal>",
  summary: "Writes what a terminal showed as an asciicast v2 file.",
  positionals: { terminal: terminalWord },
  options: {
    ...terminalOptions,
    output: { type: "string", describe: "New file to write (default: standard output)" },
  },
  json: false,
  examples: [
    ["terminal export coder --output build.cast", "then: asciinema play build.cast"],
    ["terminal export terminal-coder-build | gzip > build.cast.gz", "by its id, to a pipe"],
  ],
};

export function run(args: Arguments): number {
  const path = args.text("output");
  let file: number | undefined;
  // Made as who the caller is: a file of theirs, wherever they may write.
  const named = openTerminal(args, args.need("terminal"), () => {
    if (path !== undefined) file = createNew(path);
  });
  const lines = asciicastLines(historyOf(named), { title: named.id });
  for (const line of lines) {
    if (file === undefined) printRaw(escapeJson(line));
    else writeAll(file, new TextEncoder().encode(line));
  }
  if (file === undefined) return 0;
  closeSync(file);
  note(`wrote ${path}`);
  return 0;
}

function createNew(path: string): number {
  try {
    return openPath(path, "create");
  } catch (error) {
    if ((error as { code?: string }).code === "EEXIST") {
      fail("EEXIST", `cannot write ${JSON.stringify(path)}: it exists`, {
        hint: "name a new file, or remove this one first",
      });
    }
    return unreadable("write", path, error);
  }
}
