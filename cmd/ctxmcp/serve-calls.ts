// The calls of one server that the host has made: each is checked against what was installed, made,
// and told in pieces.

import { createHash } from "node:crypto";
import { type Code, coded } from "../../internal/abi/mod.ts";
import type { OpenServer, Progress } from "../../internal/mcp/mod.ts";
import { definitionText, resultContent } from "../../internal/mcp-tool/mod.ts";
import {
  type CallFrame,
  keptBytesMax,
  keptMax,
  pieceUnitsMax,
  type ServeFrame,
} from "../../internal/mcp-wire/mod.ts";

type Say = (frame: ServeFrame) => Promise<void> | undefined;

export class ServedCalls {
  readonly #server: OpenServer;
  readonly #say: Say;
  readonly #running = new Map<number, { stop: AbortController; done: Promise<void> }>();

  constructor(server: OpenServer, say: Say) {
    this.#server = server;
    this.#say = say;
  }

  begin(frame: CallFrame): void {
    const { id } = frame;
    if (this.#running.has(id)) return;
    const stop = new AbortController();
    const done = this.#run(frame, stop.signal).finally(() => this.#running.delete(id));
    this.#running.set(id, { stop, done });
  }

  /** The server is told; what it answers then is nobody's. */
  cancel(id: number): void {
    this.#running.get(id)?.stop.abort();
  }

  /** Everything that runs is told of its end. */
  async over(): Promise<void> {
    const running = [...this.#running.values()];
    for (const { stop } of running) stop.abort();
    await Promise.all(running.map(({ done }) => done));
  }

  async #run(frame: CallFrame, signal: AbortSignal): Promise<void> {
    const { id, tool, args, idle_ms, total_ms } = frame;
    try {
      const refusal = await this.#changed(frame, signal);
      if (refusal !== undefined) {
        await this.#text(id, refusal);
        this.#end(id, "error", "EACCES");
        return;
      }
      const result = await this.#server.callTool(tool, args, {
        ...{ signal, idleMs: idle_ms, totalMs: total_ms },
        onProgress: (progress) => {
          void this.#say({ kind: "progress", id, text: progressText(progress) });
        },
      });
      const kept: Uint8Array[] = [];
      let bytesKept = 0;
      const { status, content } = resultContent(result, {
        keep(bytes) {
          if (kept.length >= keptMax || bytesKept + bytes.length > keptBytesMax) return undefined;
          bytesKept += bytes.length;
          kept.push(bytes);
          return `sha256-${createHash("sha256").update(bytes).digest("hex")}`;
        },
      });
      for (const [index, bytes] of kept.entries()) await this.#keep(id, index, bytes);
      await this.#text(id, content);
      this.#end(id, status);
    } catch (error) {
      const { code, message, hint } = coded(error);
      await this.#text(id, hint === undefined ? message : `${message} (${hint})`);
      this.#end(id, "error", code);
    }
  }

  /** Why a tool is not the one that was installed; undefined when it is. */
  async #changed(
    { tool, definition }: CallFrame,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const tools = await this.#server.listTools(signal);
    const [found, second] = tools.filter(({ name }) => name === tool);
    if (found === undefined) return `the server has no tool "${tool}" any more`;
    // Which of them it would call is its own choice, so the one that was installed may be the other.
    if (second !== undefined) return `the server has two tools "${tool}", and calls either`;
    const now = createHash("sha256").update(definitionText(found)).digest("hex");
    if (now === definition) return undefined;
    return (
      `the server describes the tool "${tool}" otherwise than when it was installed; see what ` +
      "changed with ctxmcp project --diff, and accept it with ctx object install --replace"
    );
  }

  async #keep(id: number, index: number, bytes: Uint8Array): Promise<void> {
    // Whole triples, so that each piece is base64 by itself.
    const step = Math.floor(pieceUnitsMax / 4) * 3;
    for (let at = 0; at < bytes.length; at += step) {
      const data = Buffer.from(bytes.subarray(at, at + step)).toString("base64");
      await this.#say({ kind: "keep", id, index, data });
    }
  }

  async #text(id: number, text: string): Promise<void> {
    for (let at = 0; at < text.length; ) {
      let end = Math.min(at + pieceUnitsMax, text.length);
      // Not between the halves of a pair.
      if (end < text.length && isHighHalf(text.charCodeAt(end - 1))) end -= 1;
      await this.#say({ kind: "text", id, text: text.slice(at, end) });
      at = end;
    }
  }

  #end(id: number, status: "ok" | "error", code?: Code): void {
    const over = this.#server.isOver ? ({ over: true } as const) : {};
    void this.#say({
      kind: "result",
      id,
      status,
      ...over,
      ...(code === undefined ? {} : { code }),
    });
  }
}

const isHighHalf = (unit: number) => unit >= 0xd800 && unit <= 0xdbff;

/** A line for whoever watches. */
function progressText({ progress, total, message }: Progress): string {
  const count = total === undefined ? `${progress}` : `${progress}/${total}`;
  const said = message === undefined ? "" : ` ${message}`;
  return `${`[progress ${count}]${said}`.slice(0, pieceUnitsMax - 1).toWellFormed()}\n`;
}
