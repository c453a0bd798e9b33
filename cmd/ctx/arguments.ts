// The owner of yargs: parses the line of one command by its specification and prints its help.
// Loaded only for commands that need it, since yargs takes longer to load than most of them run.

import yargs, { type Argv } from "yargs";
import { CodedError, fail } from "../../internal/abi/mod.ts";
import type { Arguments, CommandSpec } from "./command.ts";

/** Columns of a help text; fixed, so that it reads the same in a pipe and in a manual page. */
const helpColumns = 96;

const everyCommand = {
  json: { type: "boolean", describe: "Print facts as JSON" },
  source: { type: "string", describe: "Source tree (default: CTX_SOURCE)" },
  root: { type: "string", describe: "View of the tree (default: CTX_ROOT)" },
  "no-start": { type: "boolean", describe: "Do not start ctxd when it is not running" },
  help: { type: "boolean", describe: "Print this help", alias: "h" },
} as const;

/** The parsed line, or the text of `--help` when that was asked for. Throws EINVAL. */
export async function parseArguments(
  spec: CommandSpec,
  argv: readonly string[],
): Promise<Arguments | string> {
  const dashes = argv.indexOf("--");
  const own = dashes < 0 ? argv : argv.slice(0, dashes);
  const parser = build(spec, (message) => {
    throw new CodedError("EINVAL", tidyMessage(message), { hint: `see ctx ${spec.name} --help` });
  });
  if (own.includes("--help") || own.includes("-h")) return `${await parser.getHelp()}\n`;
  const parsed = parser.parseSync([...own]) as Record<string, unknown>;
  return values(dashes < 0 ? parsed : withPlainWords(spec, parsed, argv.slice(dashes + 1)));
}

/** Puts the words after `--`, which yargs would leave aside, where the command's last words go. */
function withPlainWords(
  spec: CommandSpec,
  parsed: Record<string, unknown>,
  words: readonly string[],
): Record<string, unknown> {
  const list = /\[([a-z-]+)\.\.\]$/.exec(spec.words)?.[1];
  if (list !== undefined) return { ...parsed, [list]: [...asList(parsed[list]), ...words] };
  const free = Object.keys(spec.positionals).filter((name) => parsed[name] === undefined);
  const extra = words[free.length];
  if (extra !== undefined) {
    fail("EINVAL", `unexpected word ${JSON.stringify(extra)}`, {
      hint: `see ctx ${spec.name} --help`,
    });
  }
  return { ...parsed, ...Object.fromEntries(words.map((word, at) => [free[at], word])) };
}

function asList(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : value === undefined ? [] : [String(value)];
}

function build(spec: CommandSpec, refuse: (message: string) => void): Argv {
  let parser = yargs([])
    .scriptName(`ctx ${spec.name}`)
    .usage(`Usage: ctx ${`${spec.name} ${spec.words}`.trim()}\n\n${spec.summary}`)
    .detectLocale(false)
    .version(false)
    .help(false)
    .exitProcess(false)
    .wrap(helpColumns)
    .strictOptions()
    .parserConfiguration({
      "parse-numbers": false,
      "parse-positional-numbers": false,
      "dot-notation": false,
      "boolean-negation": false,
      "camel-case-expansion": false,
      "greedy-arrays": false,
    })
    .options({ ...spec.options, ...everyCommand })
    .fail((message, error) => {
      if (error instanceof CodedError) throw error;
      refuse(message || error?.message || "the arguments are not valid");
    });
  for (const [line, meaning] of spec.examples) parser = parser.example(`ctx ${line}`, meaning);
  return parser.command(`$0 ${spec.words}`.trim(), false, (command) => {
    for (const [name, describe] of Object.entries(spec.positionals)) {
      command.positional(name, { describe, type: "string" });
    }
    return command;
  });
}

/** yargs writes sentences; ours are clauses. */
function tidyMessage(message: string): string {
  const line = message.split("\n", 1)[0]?.trim() ?? "";
  const bare = line.replace(/\.$/, "");
  return bare.charAt(0).toLowerCase() + bare.slice(1);
}

function values(parsed: Record<string, unknown>): Arguments {
  const text = (name: string) => {
    const given = parsed[name];
    // An option that is repeated counts as it was said last.
    const value = Array.isArray(given) ? given.at(-1) : given;
    return value === undefined || value === null ? undefined : String(value);
  };
  return {
    text,
    need: (name) => text(name) ?? fail("EINVAL", `"${name}" is missing`),
    flag: (name) => parsed[name] === true,
    list: (name) => asList(parsed[name]),
    whole: (name, least) => {
      const value = text(name);
      if (value === undefined) return undefined;
      if (/^[0-9]{1,15}$/.test(value) && Number(value) >= least) return Number(value);
      return fail("EINVAL", `--${name} needs a whole number of at least ${least}`);
    },
  };
}
