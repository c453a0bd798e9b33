// `ctx terminal output`: what the last commands in a terminal printed, to be read or copied.

import { fail } from "../../internal/abi/mod.ts";
import {
  escapeLine,
  isTerminal,
  printJson,
  printRaw,
  wantsColour,
} from "../../internal/cli/mod.ts";
import { type CommandOutput, commandsOf } from "../../internal/terminal-wire/mod.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { terminalText } from "./terminal-text.ts";
import { historyOf, openTerminal, terminalOptions, terminalWord } from "./terminal-word.ts";

export const spec: CommandSpec = {
  name: "terminal output",
  words: "<terminal>",
  summary: "Prints the output of the last commands in a terminal, also when it has ended.",
  more: `Each command has its line in front and its exit status behind; --plain prints the output alone. A
line that was written over, as a progress bar, is printed as it was in the end.
`,
  positionals: { terminal: terminalWord },
  options: {
    ...terminalOptions,
    last: { type: "string", describe: "How many commands, the newest last (default: 1)" },
    plain: { type: "boolean", describe: "Only what they printed, without colours" },
  },
  examples: [
    ["terminal output coder --plain | wl-copy", "the last output into the clipboard"],
    ["terminal output coder --last 5 --json", "one JSON object a command"],
  ],
};

export function run(args: Arguments): number {
  const last = args.whole("last", 1) ?? 1;
  const named = openTerminal(args, args.need("terminal"));
  const commands = commandsOf(historyOf(named), { last });
  if (commands.length === 0) {
    fail("ENOENT", `no command has run in terminal "${named.id}"`, {
      hint: `its whole history: ctx terminal export ${named.id}`,
    });
  }
  for (const command of commands) {
    if (args.flag("json")) printFacts(command);
    else printCommand(command, args.flag("plain"));
  }
  return 0;
}

function printFacts(command: CommandOutput): void {
  const { input, output, dropped, status = null, began, ended = null } = command;
  const text = terminalText(output, { colours: false });
  printJson({ input, output: text, dropped, status, began, ended });
}

function printCommand(command: CommandOutput, plain: boolean): void {
  const colours = !plain && isTerminal(1) && wantsColour(1, process.env);
  // Colours at the very end show nothing, and stood on a row of their own.
  const text = terminalText(command.output, { colours }).replace(/(?:\x1b\[[0-9;:]*m)+$/, "");
  const body = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  if (plain) {
    printRaw(body);
    return;
  }
  const { status, dropped } = command;
  const cut = dropped === 0 ? "" : `[${dropped} bytes are missing]\n`;
  const end = status === undefined ? "[no status]" : `[status ${status}]`;
  printRaw(`$ ${escapeLine(command.input)}\n${body}${colours ? "\x1b[0m" : ""}${cut}${end}\n`);
}
