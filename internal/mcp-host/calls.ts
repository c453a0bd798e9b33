// Calls over an open server: several at once, each with its own text, limits and end.

import { type Code, CodedError, quoted } from "../abi/mod.ts";
import {
  type LaunchIo,
  type LaunchRequest,
  newGitNote,
  type RunningService,
} from "../launch/mod.ts";
import {
  type CallFrame,
  decodeServeFrame,
  encodeServe,
  type HostFrame,
  type ResultFrame,
} from "../mcp-wire/mod.ts";
import { callGraceMs, callTotalMsMax, progressTimes } from "./bounds.ts";
import { CollectedResult } from "./collected.ts";
import type { ServedOutcome } from "./types.ts";

interface Pending {
  readonly collected: CollectedResult;
  readonly io: LaunchIo;
  resolve(result: ResultFrame): void;
  reject(error: CodedError): void;
}

export class OpenServer {
  alive = true;
  readonly #service: RunningService;
  readonly #name: string;
  readonly #pending = new Map<number, Pending>();
  #last = 0;

  constructor(service: RunningService, name: string) {
    this.#service = service;
    this.#name = quoted(name);
    void this.#read();
  }

  async call(
    { tool: { mcp }, args, timeoutMs }: LaunchRequest,
    definition: string,
    io: LaunchIo,
  ): Promise<ServedOutcome> {
    const tool = mcp?.tool ?? "";
    this.#last += 1;
    const id = this.#last;
    const total = Math.max(timeoutMs, Math.min(timeoutMs * progressTimes, callTotalMsMax));
    const frame: CallFrame = {
      ...{ kind: "call", id, tool, definition },
      args: args as CallFrame["args"],
      ...{ idle_ms: timeoutMs, total_ms: total },
    };
    const collected = new CollectedResult();
    const { status, code } = await this.#answered(frame, { collected, io });
    const newGit = this.#service.newGit();
    return {
      ...{ status, exit: undefined, newGit, kept: collected.kept, dropped: collected.dropped },
      ...(code === undefined ? {} : { code }),
      output: collected.text() + newGitNote(newGit),
    };
  }

  async end(graceMs: number): Promise<void> {
    this.#over("ECANCELED", "is not wanted any more");
    await this.#service.end(graceMs);
  }

  async #answered(frame: CallFrame, of: Pick<Pending, "collected" | "io">): Promise<ResultFrame> {
    const { signal } = of.io;
    const { promise, resolve, reject } = Promise.withResolvers<ResultFrame>();
    const { id } = frame;
    // Its own limits are kept by serve-tool, which can tell the server; this is for when it cannot.
    const timer = setTimeout(() => {
      this.#over("ETIMEDOUT", `said nothing for ${frame.total_ms} ms and was ended`);
      void this.#service.end(0);
    }, frame.total_ms + callGraceMs);
    const abort = () => {
      this.#send({ kind: "cancel", id });
      reject(new CodedError("ECANCELED", "stopped: cancelled"));
    };
    this.#pending.set(id, { ...of, resolve, reject });
    signal.addEventListener("abort", abort);
    try {
      if (signal.aborted) throw new CodedError("ECANCELED", "stopped: cancelled");
      if (!this.alive) throw this.#gone();
      this.#send(frame);
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
      this.#pending.delete(id);
    }
  }

  #send(frame: HostFrame): void {
    void this.#service.connection.send(encodeServe(frame));
  }

  async #read(): Promise<void> {
    for await (const line of this.#service.connection) {
      const frame = line.ok ? decodeServeFrame(line.line) : undefined;
      if (frame === undefined || !("id" in frame)) {
        this.#over("EIO", "answered with a line that is none");
        await this.#service.end(0);
        return;
      }
      // Before the result is handed on, after which the next call may come at once.
      if (frame.kind === "result" && frame.over) this.alive = false;
      const pending = this.#pending.get(frame.id);
      // One that was cancelled or came too late.
      if (pending === undefined) continue;
      if (frame.kind === "result") pending.resolve(frame);
      else if (frame.kind === "progress") pending.io.onOutput(frame.text);
      else pending.collected.add(frame);
    }
    const stderr = this.#service.stderr().trim();
    this.#over("EIO", stderr === "" ? "ended" : `ended: ${stderr.slice(-saidUnitsMax)}`);
  }

  #over(code: Code, why: string): void {
    this.alive = false;
    const error = new CodedError(code, `server ${this.#name} ${why}`);
    for (const { reject } of this.#pending.values()) reject(error);
  }

  #gone(): CodedError {
    return new CodedError("EIO", `server ${this.#name} is not there any more`);
  }
}

/** UTF-16 units of what serve-tool complained that are repeated. */
const saidUnitsMax = 500;
