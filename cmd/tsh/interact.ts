// The interactive shell: a line is edited, its commands run one after the other, and between two lines
// the agent's calls run in the same terminal.

import { coded, fail } from "../../internal/abi/mod.ts";
import { escapeLine, note, onInterrupt, reportError } from "../../internal/cli/mod.ts";
import { commandsIn, marks, quoteWord } from "../../internal/shell-line/mod.ts";
import { AgentCalls } from "./agent-calls.ts";
import { answerWord, exitStatus } from "./answer-word.ts";
import { terminalSocket } from "./authorize.ts";
import { History } from "./history-file.ts";
import { askWord, noteWait } from "./host-word.ts";
import { Jobs } from "./jobs.ts";
import { LineReader } from "./line-reader.ts";
import { allowedTool } from "./one-shot.ts";
import { checkWords } from "./shell.ts";
import { Terminal } from "./terminal.ts";
import type { ToolPath } from "./tool-path.ts";
import { Turns } from "./turns.ts";
import { isBuiltinWord } from "./words.ts";

/**
 * Keys come by a signal, so while no host is connected the event loop has nothing to wait for, and Bun
 * then goes round and round without waiting. A timer gives it something; how often it fires is no matter.
 */
const awakeMs = 60_000;

export async function interact(path: ToolPath): Promise<number> {
  const terminal = new Terminal();
  const turns = new Turns();
  const history = new History(process.env["HOME"]);
  const reader = new LineReader({ terminal, turns, history, path });
  const shell = new Shell(path, terminal, turns, reader, new Jobs(terminal));
  const socket = terminalSocket();
  const calls =
    socket === undefined ? undefined : new AgentCalls({ socket, terminal, turns, reader });
  if (socket === undefined) {
    note("This is no agent's terminal: tools can be looked at and not run. help NAME shows one.");
  }
  const awake = setInterval(() => {}, awakeMs);
  try {
    return await shell.run();
  } finally {
    clearInterval(awake);
    calls?.close();
    terminal.plain();
  }
}

class Shell {
  readonly #path: ToolPath;
  readonly #terminal: Terminal;
  readonly #turns: Turns;
  readonly #reader: LineReader;
  readonly #jobs: Jobs;
  #status = 0;
  #left: number | undefined;
  /** The person was told of stopped jobs and may leave them. */
  #warned = false;

  constructor(path: ToolPath, terminal: Terminal, turns: Turns, reader: LineReader, jobs: Jobs) {
    this.#path = path;
    this.#terminal = terminal;
    this.#turns = turns;
    this.#reader = reader;
    this.#jobs = jobs;
  }

  async run(): Promise<number> {
    for (;;) {
      const line = await this.#reader.read();
      if (line.kind === "hangup") return this.#status;
      if (line.kind === "end") await this.#one(["exit"], "exit");
      else await this.#line(line.text);
      if (this.#left !== undefined) return this.#left;
    }
  }

  async #line(text: string): Promise<void> {
    let commands: string[][];
    try {
      commands = commandsIn(text);
    } catch (error) {
      this.#report(error);
      return;
    }
    for (const [index, words] of commands.entries()) {
      const line = commands.length === 1 ? text.trim() : words.map(quoteWord).join(" ");
      await this.#one(words, line, index > 0);
      if (this.#left !== undefined) return;
    }
  }

  /** `echoed`: it is one of several, so what it is is not on the screen yet. */
  async #one(words: readonly string[], line: string, echoed = false): Promise<void> {
    await this.#turns.take();
    this.#terminal.waiting();
    if (echoed) this.#echo(line);
    else this.#terminal.write(marks.output(line));
    try {
      this.#status = await this.#run(words, line);
    } catch (error) {
      this.#status = this.#report(error);
    } finally {
      this.#terminal.waiting();
      this.#terminal.write(marks.end(this.#status));
      this.#terminal.freshRow();
      this.#turns.give();
    }
  }

  async #run([name = "", ...rest]: readonly string[], line: string): Promise<number> {
    if (this.#jobs.count > 0 && name === "fg") return this.#jobs.resume(rest);
    if (this.#jobs.count > 0 && name === "jobs" && rest.length === 0) {
      this.#terminal.write(
        this.#jobs
          .list()
          .map((job) => `${job}\n`)
          .join(""),
      );
      return 0;
    }
    if (name === "exit") return this.#exit(rest);
    this.#warned = false;
    if (isBuiltinWord(name)) {
      const words = rest.filter((word) => word !== "--json");
      checkWords(name, words);
      const ask = (asked: readonly string[]) => this.#ask(asked, line);
      return answerWord(() => this.#path, name, words, words.length < rest.length, ask);
    }
    const cancel = new AbortController();
    const release = onInterrupt(() => cancel.abort());
    let file: string;
    try {
      file = await allowedTool(this.#path, name, rest, cancel.signal);
    } finally {
      release();
    }
    return this.#jobs.run(file, rest, escapeLine(line));
  }

  /**
   * Asks the host for one of its words. It may wait for the agent's run to end, and the run's calls wait
   * for the terminal: so the turn is theirs meanwhile.
   */
  async #ask(words: readonly string[], line: string): Promise<string> {
    const turns = this.#turns;
    const cancel = new AbortController();
    const release = onInterrupt(() => cancel.abort());
    let lentAt: number | undefined;
    const waits = () => {
      noteWait();
      lentAt = turns.count;
      turns.give();
    };
    try {
      return await askWord(words, { signal: cancel.signal, waits });
    } finally {
      if (lentAt !== undefined) {
        await turns.take();
        this.#terminal.waiting();
        // What was shown in between is not this line's.
        if (turns.count > lentAt + 1) this.#echo(line);
      }
      release();
    }
  }

  #echo(line: string): void {
    const { prompt, input, output } = marks;
    this.#terminal.write(`${prompt}> ${input}${escapeLine(line)}\n${output(line)}`);
  }

  #exit(words: readonly string[]): number {
    const status = exitStatus(words, this.#status);
    if (this.#jobs.count > 0 && !this.#warned) {
      this.#warned = true;
      return fail("busy", "there are stopped jobs", {
        hint: "fg goes on with the last; exit once more ends them",
      });
    }
    this.#jobs.end();
    this.#left = status;
    return status;
  }

  #report(error: unknown): number {
    const { text, exit } = reportError("tsh", error, process.env["CTX_DEBUG"] === "1");
    this.#terminal.write(text);
    // A reader that is gone is a terminal that is gone.
    return coded(error).code === "ECANCELED" ? 130 : exit;
  }
}
