// A capability socket with handlers that only note what they are asked, and the lines to ask with.

import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ProcessStamp } from "../../internal/os/mod.ts";
import {
  controlSocketName,
  createRunSockets,
  type OpenRun,
  type RunSocket,
  type RunSocketHandlers,
} from "../../internal/run-socket/mod.ts";
import { type Connection, connectLines } from "../../internal/sock/mod.ts";

export const own = { agent: "coder", session: "default", run: "run-1" };

export const update = (id: string, change: Readonly<Record<string, unknown>> = {}) => ({
  ...{ op: "agent.update", request_id: id, ...own, control: "system.md", content: "Be careful.\n" },
  ...change,
});
export const authorize = (id: string) => ({
  ...{ op: "tool.authorize", request_id: id, name: "fs.read", args: { path: "a" } },
});
export const modelUse = (id: string) => ({
  ...{ op: "model.use", request_id: id, model: "debug/echo" },
  messages: [{ role: "user", content: "hi" }],
});

export type Answer = Record<string, unknown> | undefined;

export class Stage {
  readonly runtime = mkdtempSync("/tmp/ctx-run-socket-");
  readonly faults: unknown[] = [];
  /** Of each request that a handler got: op and id. */
  readonly served: string[] = [];
  roots: readonly ProcessStamp[] = [];
  readonly sockets = createRunSockets({
    runtime: this.runtime,
    roots: () => this.roots,
    onFault: (error) => this.faults.push(error),
  });
  readonly #open: RunSocket[] = [];

  open(handlers: Partial<RunSocketHandlers> = {}, change: Partial<OpenRun> = {}): RunSocket {
    const run = { ...own, peerUid: process.getuid?.() ?? 0, ...change };
    const socket = this.sockets.open({
      ...run,
      folder: change.folder ?? this.sockets.place({ ...run, scope: "private" }),
      handlers: {
        update: async ({ op, request_id, control }) => {
          this.served.push(`${op} ${request_id}`);
          return { request_id, ok: true, control };
        },
        authorize: async ({ op, request_id }) => {
          this.served.push(`${op} ${request_id}`);
          return { request_id, ok: true, decision: { allowed: true, layers: [] } };
        },
        call: async ({ op, request_id }) => {
          this.served.push(`${op} ${request_id}`);
          return { request_id, ok: true, result: { status: "ok", content: "" } };
        },
        useModel: async ({ op, request_id }, emit) => {
          this.served.push(`${op} ${request_id}`);
          emit({ type: "delta", text: "hi" });
          emit({ type: "message", content: [{ type: "text", text: "hi" }] });
          return { status: "ok" };
        },
        ...handlers,
      },
    });
    this.#open.push(socket);
    return socket;
  }

  async end(): Promise<void> {
    await Promise.all(this.#open.map((socket) => socket.close()));
    rmSync(this.runtime, { recursive: true, force: true });
  }
}

/** Connects from this very process. */
export function connect({ folder }: RunSocket): Promise<Connection> {
  const path = join(folder, controlSocketName);
  return connectLines({ path, servers: "any", lineBytesMax: 1024 * 1024 });
}

/** The next answer, or undefined when the connection is over. */
export async function answerOf(connection: Connection): Promise<Answer> {
  const line = await connection.next();
  if (line === undefined) return undefined;
  if (!line.ok) throw new Error(line.reason);
  return JSON.parse(line.line) as Answer;
}

/** Sends one line and gives the next answer. */
export async function ask(connection: Connection, request: object | string): Promise<Answer> {
  const line = typeof request === "string" ? request : JSON.stringify(request);
  void connection.send(`${line}\n`);
  return answerOf(connection);
}
