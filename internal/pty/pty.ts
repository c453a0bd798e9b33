// The one owner of Bun's own terminal: a child in a session of its own, with the new pseudo-terminal
// as its controlling one. Output comes as it is read, and what the handler does with it decides how
// fast the terminal is read. Only one write is under way at a time, since Bun keeps without bound
// what the terminal does not take.

import { constants } from "node:os";
import { coded, fail, quoted } from "../abi/mod.ts";

/**
 * Time from the child's end to the end of its output. The kernel hangs up a session's terminal with
 * its leader, so what comes later than this is lost.
 */
const outputEndMs = 1000;

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
  const terminal = {
    cols,
    rows,
    data: (_terminal: unknown, bytes: Uint8Array) => options.onData(bytes),
    drain: () => {
      if (!isOver) options.onWritten();
    },
    exit: () => outputEnded.resolve(),
  };
  const given = { ...(env && { env }), ...(cwd !== undefined && { cwd }), terminal };
  const child = start(command, given);
  const ended = child.exited.then(async () => {
    isOver = true;
    await within(outputEnded.promise, outputEndMs);
    child.terminal.close();
    return exitOf(child);
  });
  return {
    pid: child.pid,
    ended,
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

async function within(promise: Promise<void>, ms: number): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, ms);
  await Promise.race([promise, late.promise]);
  clearTimeout(timer);
}
