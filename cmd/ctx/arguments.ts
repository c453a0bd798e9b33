// The owner of yargs: parses the line of one command by its specification and prints its help.
// Loaded only for commands that need it, since yargs takes longer to load than most of them run.
// yargs sees options alone: it would take a positional word's name as an option too, and leaves
// words after `--` and surplus words aside without a word, so words are counted here.

import yargs, { type Argv, type Options } from "yargs";
import { CodedError, fail } from "../../internal/abi/mod.ts";
import type { Arguments, CommandSpec } from "./command.ts";

/** Columns of a help text; fixed, so that it reads the same in a pipe and in a manual page. */
const helpColumns = 96;

const json = { type: "boolean", describe: "Print facts as JSON" } as const;

const everyCommand = {
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
  const own = joinMounts(spec, dashes < 0 ? argv : argv.slice(0, dashes));
  const parser = build(spec, own);
  if (own.includes("--help") || own.includes("-h")) return helpOf(spec, parser);
  const parsed = parser.parseSync([...own]) as Record<string, unknown>;
  const words = [...asList(parsed["_"]), ...(dashes < 0 ? [] : argv.slice(dashes + 1))];
  return values({ ...parsed, ...placeWords(spec, words) });
}

/** `--mount SRC DST ro` as the one value that it is as `--mount 'SRC DST ro'`; tabs keep spaces of paths. */
function joinMounts(spec: CommandSpec, own: readonly string[]): readonly string[] {
  if (spec.options["mount"] === undefined) return own;
  const joined: string[] = [];
  for (let at = 0; at < own.length; at++) {
    const [word = "", source = "", target = "", mode = ""] = own.slice(at, at + 4);
    joined.push(word);
    if (word !== "--mount" || /[ \t]/.test(target) || !/^r[ow]$/.test(mode)) continue;
    joined.push([source, target, mode, "-"].join("\t"));
    at += 3;
  }
  return joined;
}

interface WordSlot {
  readonly name: string;
  readonly required: boolean;
  readonly many: boolean;
}

/** The positional words of a specification: `<name>` must be there, `[name..]` takes the rest. */
function slotsOf(spec: CommandSpec): WordSlot[] {
  return [...spec.words.matchAll(/([<[])([a-z-]+)(\.\.)?[>\]]/g)].map(
    ([, open, name = "", many]) => ({ name, required: open === "<", many: many !== undefined }),
  );
}

function placeWords(spec: CommandSpec, words: readonly string[]): Record<string, unknown> {
  const placed: Record<string, unknown> = {};
  let at = 0;
  for (const { name, required, many } of slotsOf(spec)) {
    if (many) {
      placed[name] = words.slice(at);
      at = words.length;
    } else if (at < words.length) placed[name] = words[at++];
    else if (required) refuse(spec, `the ${name} is missing`);
  }
  const extra = words[at];
  if (extra !== undefined) refuse(spec, spec.surplus ?? `unexpected word ${JSON.stringify(extra)}`);
  return placed;
}

function refuse(spec: CommandSpec, message: string): never {
  const usage = `ctx ${spec.name} ${spec.words}`.trim();
  return fail("EINVAL", message, { hint: `write ${usage}, or see ctx ${spec.name} --help` });
}

function asList(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : value === undefined ? [] : [String(value)];
}

function optionsOf(spec: CommandSpec): Record<string, Options> {
  const facts = spec.json === false ? {} : { json };
  const all: Record<string, Options> = { ...spec.options, ...facts, ...everyCommand };
  return Object.fromEntries(
    Object.entries(all).map(([name, option]) => [
      name,
      option.type === "string" ? { ...option, nargs: 1 } : option,
    ]),
  );
}

function build(spec: CommandSpec, argv: readonly string[]): Argv {
  return yargs([])
    .scriptName(`ctx ${spec.name}`)
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
    .options(optionsOf(spec))
    .fail((message, error) => {
      if (error instanceof CodedError) throw error;
      throw explain(spec, argv, message || error?.message || "the arguments are not valid");
    });
}

/** yargs names what is wrong without its dashes and in sentences; ours are clauses about the line. */
function explain(spec: CommandSpec, argv: readonly string[], message: string): CodedError {
  const hint = `see ctx ${spec.name} --help`;
  const unknown = /^Unknown arguments?: ([^\s,]+)/.exec(message)?.[1];
  if (unknown !== undefined) {
    if (spec.surplus !== undefined) {
      return new CodedError("EINVAL", "unknown option", { hint: `${hint}; ${spec.surplus}` });
    }
    const said = argv.find((word) => word.startsWith("-") && word.includes(unknown)) ?? unknown;
    return new CodedError("EINVAL", `unknown option ${JSON.stringify(said)}`, {
      hint: `${hint}; put -- before words that start with a dash`,
    });
  }
  const valueless = /^Not enough arguments following: (\S+)/.exec(message)?.[1];
  if (valueless !== undefined) {
    const option = valueless.length === 1 ? `-${valueless}` : `--${valueless}`;
    return new CodedError("EINVAL", `option "${option}" needs a value`, { hint });
  }
  const bare = (message.split("\n", 1)[0] ?? "").trim().replace(/\.$/, "");
  return new CodedError("EINVAL", bare.charAt(0).toLowerCase() + bare.slice(1), { hint });
}

async function helpOf(spec: CommandSpec, parser: Argv): Promise<string> {
  const usage = `Usage: ctx ${`${spec.name} ${spec.words}`.trim()}\n\n${spec.summary}\n${spec.more === undefined ? "" : `\n${spec.more}`}`;
  const width = Math.max(...Object.keys(spec.positionals).map((name) => name.length));
  const words = Object.entries(spec.positionals).map(
    ([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}\n`,
  );
  const examples = spec.examples.map(([line, meaning]) => `  ctx ${line}\n      ${meaning}\n`);
  return [
    usage,
    ...(words.length === 0 ? [] : ["\nWords:\n", ...words]),
    `\n${(await parser.getHelp()).trim()}\n`,
    `\nExample${examples.length === 1 ? "" : "s"}:\n`,
    ...examples,
  ].join("");
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
