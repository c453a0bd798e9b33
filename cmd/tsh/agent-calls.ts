// The agent's calls in this terminal: each waits for its turn, is shown as a marked command line, and
// runs with its output in front of the person. The person's line is taken off meanwhile and put back as
// it was, so that neither ever cuts the other's.

import type { HostLine, TerminalCall, TerminalEnd } from "../../internal/capability/mod.ts";
import { escapeLine, onInterrupt } from "../../internal/cli/mod.ts";
import { marks, quoteWord } from "../../internal/shell-line/mod.ts";
import { CallRun, type Stop } from "./call-run.ts";
import { HostLink } from "./host-link.ts";
import { LateLines } from "./late-lines.ts";
import type { LineReader } from "./line-reader.ts";
import type { Terminal } from "./terminal.ts";
import type { Turns } from "./turns.ts";

/** In front of the line of a call, where a person's line has its prompt. */
const callSign = "\x1b[36m▶\x1b[0m ";

interface Parts {
  readonly socket: string;
  readonly terminal: Terminal;
  readonly turns: Turns;
  readonly reader: LineReader;
}

export class AgentCalls {
  readonly #parts: Parts;
  readonly #link: HostLink;
  readonly #late: LateLines;
  /** How each call that has not ended is stopped. */
  readonly #stops = new Map<string, (stop: Stop) => void>();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#late = new LateLines((text) => this.#between(text));
    parts.reader.onRead = () => this.#late.flush();
    this.#link = new HostLink(parts.socket, {
      line: (line) => this.#take(line),
      lost: () => {
        for (const stop of this.#stops.values()) stop("lost");
      },
    });
  }

  close(): void {
    this.#link.close();
    for (const stop of this.#stops.values()) stop("lost");
  }

  #take(line: HostLine): void {
    if (line.type === "call") void this.#call(line);
    else if (line.type === "cancel") this.#stops.get(line.id)?.(line.reason);
    else this.#late.add(`\x1b[2m${escapeLine(line.text)}\x1b[0m\n`);
  }

  /** Prints whole lines above the person's, when there is one; false when now is not the time. */
  #between(text: string): boolean {
    const { reader, turns, terminal } = this.#parts;
    if (turns.isTaken || !reader.isReading) return false;
    reader.stepAside();
    terminal.write(text);
    reader.comeBack();
    return true;
  }

  async #call(call: TerminalCall): Promise<void> {
    const { terminal, turns, reader } = this.#parts;
    const waiting = new AbortController();
    let stopped: Stop | undefined;
    this.#stops.set(call.id, (stop) => {
      stopped ??= stop;
      waiting.abort();
    });
    const mine = await turns.take(waiting.signal);
    if (!mine || stopped !== undefined) {
      if (mine) turns.give();
      this.#stops.delete(call.id);
      this.#end(call, { exit: null }, stopped);
      return;
    }
    const line = call.line.map(quoteWord).join(" ");
    reader.stepAside();
    terminal.write(`${marks.prompt}${callSign}${marks.input}${escapeLine(line)}\n`);
    terminal.write(marks.output(line));
    const run = new CallRun(call, {
      show: (bytes) => terminal.writeBytes(bytes),
      send: (frame) => this.#link.send(frame),
      late: (bytes) => this.#late.push(bytes),
    });
    const stop = (how: Stop) => {
      stopped ??= how;
      run.stop();
    };
    this.#stops.set(call.id, stop);
    const release = onInterrupt(() => {
      terminal.write("^C\n");
      stop("cancelled");
    });
    const timer = setTimeout(() => stop("timeout"), call.timeout_ms);
    const ended = await run.ended;
    clearTimeout(timer);
    release();
    this.#stops.delete(call.id);
    this.#closeLine(run, ended, stopped);
    this.#end(call, ended, stopped);
    reader.comeBack();
    turns.give();
    this.#late.flush();
  }

  /** Ends the last row, and tells how it ended where that is not plain to see. */
  #closeLine(
    run: CallRun,
    ended: Pick<TerminalEnd, "exit" | "signal" | "message">,
    stopped?: Stop,
  ) {
    const { terminal } = this.#parts;
    if (!run.atLineStart) terminal.write("\n");
    const said = ended.message ?? (stopped === undefined ? undefined : told[stopped]);
    if (said !== undefined) terminal.write(`\x1b[2m[${escapeLine(said)}]\x1b[0m\n`);
    const status = ended.exit ?? (ended.signal === undefined ? 126 : 128 + ended.signal);
    terminal.write(`\x1b[0m${marks.end(status)}`);
  }

  #end(
    { id }: TerminalCall,
    { exit, signal, message }: Pick<TerminalEnd, "exit" | "signal" | "message">,
    stopped: Stop | undefined,
  ): void {
    if (stopped === "lost") return;
    const how = stopped === undefined ? { exit } : { exit: null, stopped };
    void this.#link.send({
      ...{ type: "end", id, ...how },
      ...(signal === undefined || stopped !== undefined ? {} : { signal }),
      ...(message === undefined || stopped !== undefined ? {} : { message }),
    });
  }
}

const told: Readonly<Record<Stop, string>> = {
  cancelled: "cancelled",
  timeout: "stopped: the time allowed for it ran out",
  lost: "stopped: the host went away",
};
