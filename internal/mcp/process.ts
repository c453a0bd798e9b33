// A server as a process: started in a session of its own, its output read as it comes, its input
// written as fast as it reads. Knows lines and bytes, no protocol.

import { CodedError, coded, fail, quoted } from "../abi/mod.ts";
import {
  idleGraceMs,
  lastOutputMs,
  logLineBytesMax,
  serverInputBytesMax,
  serverInputLinesMax,
  serverLineBytesMax,
} from "./bounds.ts";
import { LineCutter } from "./lines.ts";
import { endProcess, noteServer, within } from "./process-end.ts";
import type { OpenOptions } from "./types.ts";

export interface ProcessEvents {
  /** One line of standard output; its bytes are good during the call. */
  line(bytes: Uint8Array): void;
  /** Nothing more comes from it; why. Once. */
  gone(why: CodedError): void;
}

/** How long reading goes on before others have their turn, in milliseconds. */
const turnMs = 5;

export class ServerProcess {
  readonly ended: Promise<void>;
  /** How long it may take to end by itself; longer once it may have something to finish. */
  graceMs = idleGraceMs;
  private readonly child: Bun.Subprocess<"pipe", "pipe", "pipe">;
  private readonly label: string;
  private readonly events: ProcessEvents;
  private readonly waiting: Uint8Array[] = [];
  private waitingBytes = 0;
  private writing = false;
  private isGone = false;
  private readonly finish: () => void;
  /** Settles when its standard error has been read to the end. */
  private readonly log: Promise<void>;

  /** Throws ENOENT or EACCES for a program that cannot be started. */
  constructor(options: OpenOptions, events: ProcessEvents) {
    this.label = options.label ?? options.argv[0] ?? "";
    this.events = events;
    this.child = spawnServer(options, this.label);
    noteServer(this.child.pid);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.finish = resolve;
    void this.readOutput();
    this.log = readLog(this.child.stderr, options.onLog);
  }

  /** Queues a line. A server that does not read what it is sent is let go. */
  write(line: string): void {
    if (this.isGone) return;
    const bytes = new TextEncoder().encode(line);
    this.waitingBytes += bytes.length;
    const tooLong = this.waitingBytes > serverInputBytesMax;
    if (tooLong || this.waiting.length >= serverInputLinesMax) {
      const most = tooLong ? `${serverInputBytesMax} bytes` : `${serverInputLinesMax} messages`;
      const reason = `it left more than ${most} unread`;
      this.leave(new CodedError("slow_consumer", `MCP server ${quoted(this.label)}: ${reason}`));
      return;
    }
    this.waiting.push(bytes);
    if (!this.writing) void this.writeWaiting();
  }

  /** Ends it for the reason that is given, unless it has ended already. Resolves with `ended`. */
  leave(why: CodedError): Promise<void> {
    if (this.isGone) return this.ended;
    this.isGone = true;
    this.waiting.length = 0;
    this.events.gone(why);
    void this.end().then(this.finish, this.finish);
    return this.ended;
  }

  /** Its last words are why it ended, so they are waited for; not for what it left the pipe to. */
  private async end(): Promise<void> {
    await endProcess(this.child, this.graceMs);
    await within(lastOutputMs, this.log);
  }

  private async writeWaiting(): Promise<void> {
    this.writing = true;
    try {
      for (let bytes = this.waiting.shift(); bytes; bytes = this.waiting.shift()) {
        // A promise when the pipe is full; it is kept when it settles.
        await this.child.stdin.write(bytes);
        this.waitingBytes -= bytes.length;
      }
      await this.child.stdin.flush();
    } catch {
      // It closed its input. What it still says is read, and its end is noticed where it is read.
    } finally {
      this.writing = false;
    }
  }

  private async readOutput(): Promise<void> {
    const cutter = new LineCutter(serverLineBytesMax);
    const reader = this.child.stdout.getReader();
    // A process that it started may hold its output open for ever.
    void this.child.exited.then(async () => {
      await Bun.sleep(lastOutputMs);
      await reader.cancel().catch(() => {});
    });
    const turn = new Turn();
    let fits = true;
    try {
      while (fits && !this.isGone) {
        const { done, value } = await reader.read();
        if (done) break;
        await turn.over();
        fits = cutter.push(value, (line) => {
          if (!this.isGone) this.events.line(line);
        });
      }
    } catch {
      // Reading a pipe fails when it is gone; that is an end like any other.
    }
    if (fits) {
      await this.leave(await this.reasonOfEnd());
    } else {
      const reason = `it wrote a line longer than ${serverLineBytesMax} bytes`;
      await this.leave(new CodedError("EMSGSIZE", `MCP server ${quoted(this.label)}: ${reason}`));
    }
    await reader.cancel().catch(() => {});
  }

  private async reasonOfEnd(): Promise<CodedError> {
    const ended = await Promise.race([
      this.child.exited.then(() => true),
      Bun.sleep(lastOutputMs).then(() => false),
    ]);
    const signal = this.child.signalCode;
    const how = signal ? `was ended by ${signal}` : `ended with status ${this.child.exitCode}`;
    const what = ended ? how : "closed its output";
    return new CodedError("EHOSTDOWN", `MCP server ${quoted(this.label)} ${what}`);
  }
}

function spawnServer(options: OpenOptions, label: string): Bun.Subprocess<"pipe", "pipe", "pipe"> {
  const [program = "", ...args] = options.argv;
  const path = program.includes("/")
    ? program
    : Bun.which(program, { PATH: options.env["PATH"] ?? "", cwd: options.cwd });
  if (path === null) {
    fail(
      "ENOENT",
      `cannot start MCP server ${quoted(label)}: no program ${quoted(program)} in PATH`,
    );
  }
  try {
    return Bun.spawn({
      cmd: [path, ...args],
      argv0: program,
      env: { ...options.env },
      cwd: options.cwd,
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
      // A session of its own, whose group is ended as a whole.
      detached: true,
    });
  } catch (error) {
    const { code, message } = coded(error);
    const reason = message.replace(/^.*?posix_spawn\S*\s*/, "");
    return fail(code, `cannot start MCP server ${quoted(label)}: ${quoted(path)}: ${reason}`, {
      cause: error,
    });
  }
}

/**
 * A pipe that always has more never lets a timer come: reading goes on without leaving the microtasks.
 * So every few milliseconds everybody else has a turn, or no bound in time would hold.
 */
class Turn {
  private begun = performance.now();

  async over(): Promise<void> {
    if (performance.now() - this.begun < turnMs) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.begun = performance.now();
  }
}

/** Drains standard error whatever happens, so that the server never waits for a reader. */
async function readLog(
  stream: ReadableStream<Uint8Array>,
  onLog: OpenOptions["onLog"],
): Promise<void> {
  const decoder = new TextDecoder();
  const turn = new Turn();
  let line = new Uint8Array(logLineBytesMax);
  let length = 0;
  try {
    for await (const chunk of stream) {
      await turn.over();
      if (!onLog) continue;
      for (let start = 0; start < chunk.length; ) {
        const end = chunk.indexOf(0x0a, start);
        const piece = chunk.subarray(start, end < 0 ? chunk.length : end);
        const fitting = piece.subarray(0, logLineBytesMax - length);
        line.set(fitting, length);
        length += fitting.length;
        start += piece.length + 1;
        if (end < 0) break;
        onLog(decoder.decode(line.subarray(0, length)));
        length = 0;
      }
    }
  } catch {
    // The pipe is gone, and nobody waits for its last line.
  }
  if (length > 0) onLog?.(decoder.decode(line.subarray(0, length)));
  line = new Uint8Array(0);
}
