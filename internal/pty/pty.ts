// The one owner of Bun's own terminal: a child in a session of its own, with the new pseudo-terminal
// as its controlling one. Bun reads a terminal for as long as there is something to read and knows no
// pause, so a flood would keep everything else in this process waiting: the flood is held in the
// kernel instead, between two turns of the event loop and while the owner asks for it. Only one write
// is under way at a time, since Bun keeps without bound what the terminal does not take.

import { closeSync } from "node:fs";
import { constants } from "node:os";
import { coded, fail, quoted } from "../abi/mod.ts";
import { holdOutput, openTerminalOf, releaseOutput } from "../os/mod.ts";

/**
 * Time from the child's end to the end of its output. The kernel hangs up a session's terminal with
 * its leader, so what comes later than this is lost.
 */
const outputEndMs = 1000;

/**
 * Silence that is the end of the output while others hold the terminal open: what the child said
 * itself is read in less. Looked for twice, because a busy machine can pass over one look.
 */
const outputQuietMs = 50;
const outputQuietLooks = 2;

/**
 * Time for which output alone is taken, while everything else in the process waits. Each end of it
 * puts the child to sleep, so it is not short: a new client waits for two of them at most.
 */
const outputTurnMs = 20;

export interface PtyExit {
  /** As of a shell: 0 to 255, 128 and the signal's number for a signal. */
  readonly status: number;
  /** 0 when it ended by itself. */
  readonly signal: number;
}

export interface PtyOptions {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly cols: number;
  readonly rows: number;
  /** The bytes are the handler's own. */
  onData(bytes: Uint8Array): void;
  /** The terminal has taken what `write` gave it. */
  onWritten(): void;
}

export interface Pty {
  readonly pid: number;
  /** Settles once, after the last output. */
  readonly ended: Promise<PtyExit>;
  /** One write is under way until `onWritten`. */
  write(bytes: Uint8Array): void;
  /** Lets the child's writes wait, or no longer. What is on its way still comes. */
  hold(isHeld: boolean): void;
  resize(cols: number, rows: number): void;
  /** Signals the child's process group; nothing once it has ended. */
  kill(signal: NodeJS.Signals): void;
}

/** Bun's terminal of a spawned child; its types do not know it. */
interface Terminal {
  write(bytes: Uint8Array): number;
  resize(cols: number, rows: number): void;
  close(): void;
}

/** Throws ENOENT, EACCES or what else kept the program from being started. */
export function openPty(options: PtyOptions): Pty {
  const { command, env, cwd, cols, rows } = options;
  const outputEnded = Promise.withResolvers<void>();
  let isOver = false;
  let pieces = 0;
  let turn: OutputTurn | undefined;
  const terminal = {
    cols,
    rows,
    data: (_terminal: unknown, bytes: Uint8Array) => {
      // First, so that the child can go on while what it said is dealt with.
      turn?.took();
      pieces += 1;
      options.onData(bytes);
    },
    drain: () => {
      if (!isOver) options.onWritten();
    },
    exit: () => outputEnded.resolve(),
  };
  const given = { ...(env && { env }), ...(cwd !== undefined && { cwd }), terminal };
  const child = start(command, given);
  const flow = new OutputFlow(openTerminalOf(child.pid));
  turn = new OutputTurn(flow);
  const ended = child.exited.then(async () => {
    isOver = true;
    // The output ends when nobody has the terminal open any more, and this holds it open too.
    flow.close();
    await outputEnd(outputEnded.promise, () => pieces);
    child.terminal.close();
    return exitOf(child);
  });
  return {
    pid: child.pid,
    ended,
    hold: (isHeld) => flow.hold("owner", isHeld),
    write(bytes) {
      if (!isOver) child.terminal.write(bytes);
    },
    resize(newCols, newRows) {
      if (!isOver) child.terminal.resize(newCols, newRows);
    },
    kill(signal) {
      if (!isOver) killGroup(child.pid, signal);
    },
  };
}

/** Holds the output while anybody wants it held. */
class OutputFlow {
  #fd: number | undefined;
  #holders = new Set<"owner" | "turn">();

  constructor(fd: number | undefined) {
    this.#fd = fd;
  }

  hold(who: "owner" | "turn", isHeld: boolean): void {
    if (this.#fd === undefined) return;
    const before = this.#holders.size;
    if (isHeld) this.#holders.add(who);
    else this.#holders.delete(who);
    try {
      if (before === 0 && this.#holders.size === 1) holdOutput(this.#fd);
      else if (before === 1 && this.#holders.size === 0) releaseOutput(this.#fd);
    } catch {
      // The terminal was hung up: its child has ended.
      this.close();
    }
  }

  close(): void {
    const fd = this.#fd;
    if (fd === undefined) return;
    this.#fd = undefined;
    closeSync(fd);
  }
}

/** Ends the taking of output when it went on for too long without anything else having its turn. */
class OutputTurn {
  readonly #flow: OutputFlow;
  #beganMs = 0;
  #isRunning = false;

  constructor(flow: OutputFlow) {
    this.#flow = flow;
  }

  took(): void {
    const now = performance.now();
    if (!this.#isRunning) {
      this.#isRunning = true;
      this.#beganMs = now;
      setImmediate(() => {
        this.#isRunning = false;
        this.#flow.hold("turn", false);
      });
    } else if (now - this.#beganMs > outputTurnMs) {
      this.#flow.hold("turn", true);
    }
  }
}

interface Child {
  readonly pid: number;
  readonly terminal: Terminal;
  readonly exited: Promise<number>;
  readonly exitCode: number | null;
  readonly signalCode: string | null;
}

function start(command: readonly string[], options: object): Child {
  const subject = quoted(command[0] ?? "");
  try {
    return Bun.spawn([...command], options) as unknown as Child;
  } catch (error) {
    const { code, message } = coded(error);
    fail(code, `cannot start ${subject}: ${message}`, { cause: error });
  }
}

function exitOf({ exitCode, signalCode }: Child): PtyExit {
  const signal = signalCode === null ? 0 : (constants.signals[signalCode as NodeJS.Signals] ?? 0);
  return { status: signal > 0 ? 128 + signal : (exitCode ?? 0), signal };
}

/** The child leads a group of its own from its first instruction on. */
function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as { code?: string }).code !== "ESRCH") throw error;
  }
}

/** Resolves at the end of the output, or when nothing comes any more. */
async function outputEnd(ended: Promise<void>, pieces: () => number): Promise<void> {
  const isOver = ended.then(() => true);
  let quiet = 0;
  for (let ms = 0; ms < outputEndMs && quiet < outputQuietLooks; ms += outputQuietMs) {
    const before = pieces();
    if (await Promise.race([isOver, Bun.sleep(outputQuietMs)])) return;
    quiet = pieces() === before ? quiet + 1 : 0;
  }
}
