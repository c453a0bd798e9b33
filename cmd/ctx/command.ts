// What a command file offers to the dispatcher, as types only.

import type { Options } from "yargs";

export interface CommandSpec {
  /** Words that name it, e.g. "agent send". */
  readonly name: string;
  /** Its positional words in yargs' notation, e.g. "<agent> [input..]". */
  readonly words: string;
  readonly summary: string;
  /** What its own help says beside the summary: whole lines of at most 96 columns. */
  readonly more?: string;
  /** Meaning of each positional word. */
  readonly positionals: Readonly<Record<string, string>>;
  readonly options: Readonly<Record<string, Options>>;
  /** What is said of a word or option too many, where it may be a secret and must not be repeated. */
  readonly surplus?: string;
  /** False for a command that prints no facts, which then knows no `--json`. */
  readonly json?: false;
  /** Command lines without the leading `ctx`, with what each does. */
  readonly examples: readonly (readonly [string, string])[];
}

/** Values of one parsed command line. Absent options are undefined, absent switches false. */
export interface Arguments {
  text(name: string): string | undefined;
  /** A positional that the specification requires. */
  need(name: string): string;
  flag(name: string): boolean;
  list(name: string): readonly string[];
  /** A whole number; EINVAL when it is none or below `least`. */
  whole(name: string, least: number): number | undefined;
}

export interface Command {
  readonly spec: CommandSpec;
  run(args: Arguments): Promise<number> | number;
}

/** A command that must start as fast as an empty program: it parses its few flags itself. */
export interface FastCommand {
  readonly help: string;
  runFast(argv: readonly string[]): Promise<number> | number;
}

/** Runs one command line, without the leading `ctx`. */
export type RunCommands = (argv: readonly string[]) => Promise<number>;
