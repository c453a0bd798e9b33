// One call of the agent as a process: in a session of its own, without the terminal, its output both
// before the person and, within bounds, with the host. What it leaves running keeps its streams: they
// are read on, so that a server that a call started does not stand still.

import { closeSync, openSync } from "node:fs";
import { constants } from "node:os";
import { coded, killGraceMs, toolOutputBytesMax } from "../../internal/abi/mod.ts";
import type { ShellLine, TerminalCall, TerminalEnd } from "../../internal/capability/mod.ts";
import { escapeText } from "../../internal/cli/mod.ts";
import {
  descendants,
  jobState,
  memoryFile,
  pipe,
  readableBytes,
  signalGroup,
  spawnJob,
} from "../../internal/os/mod.ts";
import { CallOutput } from "./call-output.ts";

export type Stop = "cancelled" | "timeout" | "lost";

/** How long the last output of a program that has ended is waited for, in milliseconds. */
const lastOutputMsMax = 500;

type Ended = Pick<TerminalEnd, "exit" | "signal" | "message">;

interface Sinks {
  /** In front of the person. */
  show(bytes: Uint8Array): void;
  send(line: ShellLine): Promise<void> | undefined;
  /** What comes after the call has ended. */
  late(bytes: Uint8Array): void;
}

/** Looks a bare name up as a shell does, along the PATH that the call itself brings. */
const lookUp = ["/bin/sh", "-c", 'exec "$@"', "sh"];

export class CallRun {
  readonly ended: Promise<Ended>;
  readonly #call: TerminalCall;
  readonly #sinks: Sinks;
  #group: number | undefined;
  #stopped = false;
  #over = false;
  #wake = () => {};
  #lastByte = 0x0a;
  #answer: Uint8Array[] = [];
  #answerBytes = 0;

  constructor(call: TerminalCall, sinks: Sinks) {
    this.#call = call;
    this.#sinks = sinks;
    this.ended = this.#run();
  }

  get atLineStart(): boolean {
    return this.#lastByte === 0x0a;
  }

  /** SIGTERM to all of it, SIGKILL after the grace. */
  stop(): void {
    if (this.#stopped || this.#over || this.#group === undefined) return;
    this.#stopped = true;
    const group = this.#group;
    const all = descendants(group);
    signalAll(group, all, constants.signals.SIGTERM);
    signalAll(group, all, constants.signals.SIGCONT);
    const timer = setTimeout(() => {
      signalAll(group, [...all, ...descendants(group)], constants.signals.SIGKILL);
    }, killGraceMs);
    void this.ended.then(() => {
      clearTimeout(timer);
      // Its leader is gone; what is left of the group has had its time.
      signalGroup(group, constants.signals.SIGKILL);
    });
  }

  async #run(): Promise<Ended> {
    const { id } = this.#call;
    await this.#sinks.send({ type: "begin", id });
    const outputs: Promise<unknown>[] = [];
    const reads: number[] = [];
    try {
      const streams = this.#open(reads);
      try {
        this.#group = this.#spawn(streams);
      } finally {
        for (const fd of new Set(streams)) closeSync(fd);
      }
    } catch (error) {
      for (const fd of reads) closeSync(fd);
      this.#over = true;
      return { exit: null, message: coded(error).message };
    }
    const names = ["stdout", "stderr"] as const;
    const parts = reads.map((fd, index) => {
      const stream = names[index] ?? "stderr";
      const output = new CallOutput(toolOutputBytesMax, (data, dropped) => {
        const encoded = Buffer.from(data).toString("base64");
        const more = dropped === 0 ? {} : { dropped };
        return this.#sinks.send({ type: "output", id, stream, data: encoded, ...more });
      });
      outputs.push(this.#read(fd, stream, output));
      return { fd, output };
    });
    const ended = await this.#waited(this.#group);
    await this.#lastOutput(reads, outputs);
    this.#over = true;
    for (const { output } of parts) await output.end();
    this.#showAnswer();
    return ended;
  }

  /** The streams of the program; `reads` gets our ends of its output. */
  #open(reads: number[]): [number, number, number] {
    const { stdin, combined } = this.#call;
    const input =
      stdin === undefined
        ? openSync("/dev/null", "r")
        : memoryFile("stdin", new TextEncoder().encode(stdin));
    const [read, write] = pipe();
    reads.push(read);
    if (combined) return [input, write, write];
    const [readError, writeError] = pipe();
    reads.push(readError);
    return [input, write, writeError];
  }

  #spawn(streams: [number, number, number]): number {
    const { program, env, cwd } = this.#call;
    const [name = ""] = program;
    const argv = name.includes("/") ? program : [...lookUp, ...program];
    return spawnJob({
      path: argv[0] as string,
      argv,
      env: { ...process.env, ...env },
      cwd,
      streams,
      group: "session",
    });
  }

  async #waited(pid: number): Promise<Ended> {
    const wake = () => this.#wake();
    process.on("SIGCHLD", wake);
    try {
      for (;;) {
        const state = jobState(pid);
        if (state.kind === "exited") return { exit: state.status };
        if (state.kind === "killed") return { exit: null, signal: state.signal };
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      process.removeListener("SIGCHLD", wake);
    }
  }

  /** What the program had written when it ended is in its pipes; what others write there is not waited for. */
  async #lastOutput(reads: readonly number[], outputs: readonly Promise<unknown>[]): Promise<void> {
    const until = performance.now() + lastOutputMsMax;
    let open = true;
    void Promise.all(outputs).then(() => {
      open = false;
    });
    for (let quiet = 0; open && quiet < 2 && performance.now() < until; ) {
      quiet = reads.some(hasMore) ? 0 : quiet + 1;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  async #read(fd: number, stream: "stdout" | "stderr", output: CallOutput): Promise<void> {
    const reader = Bun.file(fd).stream().getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        if (this.#over) this.#sinks.late(value);
        else {
          this.#show(stream, value);
          await output.push(value);
        }
      }
    } catch {
      // Nothing more can be read of it.
    } finally {
      await reader.cancel().catch(() => {});
      closeQuietly(fd);
    }
  }

  /** A native tool's standard output is an answer for the host; all else is shown as it comes. */
  #show(stream: "stdout" | "stderr", bytes: Uint8Array): void {
    if (this.#call.kind === "native" && stream === "stdout") {
      const part = bytes.slice(0, toolOutputBytesMax - this.#answerBytes);
      this.#answer.push(part);
      this.#answerBytes += part.length;
      return;
    }
    this.#write(bytes);
  }

  #write(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#lastByte = bytes[bytes.length - 1] as number;
    this.#sinks.show(bytes);
  }

  /** The content of a native answer, which is a tool's text; what is no answer is shown as it is. */
  #showAnswer(): void {
    const text = new TextDecoder().decode(Buffer.concat(this.#answer));
    this.#write(new TextEncoder().encode(escapeText(answerText(text))));
  }
}

function answerText(text: string): string {
  const last = text.trimEnd().split("\n").at(-1) ?? "";
  try {
    const value = JSON.parse(last) as { type?: unknown; content?: unknown };
    if (value.type === "result" && typeof value.content === "string") return value.content;
  } catch {
    // Plain text.
  }
  return text;
}

function hasMore(fd: number): boolean {
  try {
    return readableBytes(fd) > 0;
  } catch {
    // Read to its end, and closed.
    return false;
  }
}

function closeQuietly(fd: number): void {
  try {
    closeSync(fd);
  } catch {
    // The stream has closed it.
  }
}

function signalAll(group: number, pids: readonly number[], signal: number): void {
  signalGroup(group, signal);
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended.
    }
  }
}
