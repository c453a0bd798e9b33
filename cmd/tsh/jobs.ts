// Programs of the person, in the foreground of the terminal, and those that they stopped there.

import { constants as system } from "node:os";
import { fail } from "../../internal/abi/mod.ts";
import { jobState, signalGroup, spawnJob, type TerminalModes } from "../../internal/os/mod.ts";
import { signalStatus } from "./one-shot.ts";
import type { Terminal } from "./terminal.ts";

const constants = system.signals;

interface StoppedJob {
  readonly number: number;
  readonly group: number;
  readonly line: string;
  /** The terminal as the program had it. */
  readonly modes: TerminalModes;
}

export class Jobs {
  readonly #terminal: Terminal;
  #stopped: StoppedJob[] = [];
  #wake = () => {};

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    process.on("SIGCHLD", () => this.#wake());
  }

  get count(): number {
    return this.#stopped.length;
  }

  /** Runs a program in the foreground until it ends or stops; its status as a shell counts it. */
  async run(file: string, args: readonly string[], line: string): Promise<number> {
    this.#terminal.plain();
    let group: number;
    try {
      group = spawnJob({
        path: file,
        argv: [file, ...args],
        env: process.env,
        streams: [0, 1, 2],
        group: "own",
        foreground: 0,
      });
    } catch (error) {
      this.#terminal.takeBack(false);
      throw error;
    }
    return this.#foreground(group, line);
  }

  /** Lets a stopped one go on in the foreground; without a number the last one. */
  async resume(words: readonly string[]): Promise<number> {
    const [word, ...more] = words;
    const found =
      word === undefined
        ? this.#stopped.at(-1)
        : this.#stopped.find(({ number }) => String(number) === word.replace(/^%/, ""));
    if (found === undefined || more.length > 0) return fail("EINVAL", "there is no such job");
    this.#stopped = this.#stopped.filter((job) => job !== found);
    this.#terminal.write(`${found.line}\n`);
    this.#terminal.plain(found.modes);
    this.#terminal.giveTo(found.group);
    signalGroup(found.group, constants.SIGCONT);
    return this.#foreground(found.group, found.line);
  }

  list(): string[] {
    return this.#stopped.map(({ number, line }) => `[${number}]  stopped  ${line}`);
  }

  /** Ends what is stopped. */
  end(): void {
    for (const { group } of this.#stopped) {
      signalGroup(group, constants.SIGHUP);
      signalGroup(group, constants.SIGCONT);
    }
    this.#stopped = [];
  }

  async #foreground(group: number, line: string): Promise<number> {
    // Where the C library could not give it the terminal at its start, it may have stopped for that.
    this.#terminal.giveTo(group);
    for (;;) {
      const state = jobState(group);
      if (state.kind === "exited") {
        this.#terminal.takeBack(false);
        return state.status;
      }
      if (state.kind === "killed") {
        this.#terminal.takeBack(true);
        return signalStatus(state.signal);
      }
      if (state.kind === "stopped" && state.signal === constants.SIGTTIN) {
        signalGroup(group, constants.SIGCONT);
      } else if (state.kind === "stopped") {
        const number = (this.#stopped.at(-1)?.number ?? 0) + 1;
        this.#stopped.push({ number, group, line, modes: this.#terminal.modes });
        this.#terminal.takeBack(true);
        this.#terminal.write(`\n[${number}]  stopped  ${line}\nfg goes on with it\n`);
        return signalStatus(state.signal);
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
