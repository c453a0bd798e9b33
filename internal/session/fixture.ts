// What the tests of this folder share: a throw-away tree, a service over it, executors that a test
// steers, and readers that collect frames.

import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OpFrame, Scope, SendRequest } from "../interaction/mod.ts";
import { createSessions, type Sessions, type SessionsOptions } from "./sessions.ts";
import type { FrameStream } from "./stream.ts";
import type { RunContext, RunExecutor, RunOutcome } from "./types.ts";

export const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };

export interface Place {
  readonly folder: string;
  readonly source: string;
  readonly runtime: string;
  sessionFolder(session?: string): string;
  events(session?: string): Record<string, unknown>[];
  remove(): void;
}

export function place(parent = tmpdir()): Place {
  const folder = mkdtempSync(join(parent, "session-"));
  const source = join(folder, "tree");
  const runtime = join(folder, "run");
  mkdirSync(source);
  mkdirSync(runtime, { mode: 0o700 });
  const sessionFolder = (session = "default") =>
    join(source, `home/${owner.uid}/agent/coder/session`, session);
  return {
    folder,
    source,
    runtime,
    sessionFolder,
    events: (session) => readLines(join(sessionFolder(session), "events.jsonl")),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export function readLines(path: string): Record<string, unknown>[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

export function service(
  at: Place,
  executor: RunExecutor,
  extra: Partial<SessionsOptions> = {},
): Sessions {
  return createSessions({
    source: at.source,
    runtime: at.runtime,
    agent: () => ({ owner }),
    executor,
    modelName: () => "debug/echo",
    record: "arguments",
    idleMs: 60_000,
    approvalTimeoutMs: 60_000,
    now: () => new Date(),
    ...extra,
  });
}

export function send(id: string, extra: Partial<SendRequest> = {}): SendRequest {
  const scope: Scope = { kind: "private" };
  return {
    op: "send",
    id,
    session: "default",
    scope,
    input: `input of ${id}`,
    cwd: undefined,
    workspace: undefined,
    ...extra,
  };
}

export function resume(after?: string, session = "default") {
  return { op: "resume" as const, session, scope: { kind: "private" } as const, after };
}

export function status(session = "default") {
  return { op: "status" as const, session, scope: { kind: "private" } as const };
}

/** What an op client is told. */
export async function collect(stream: FrameStream): Promise<OpFrame[]> {
  const frames: OpFrame[] = [];
  for await (const frame of stream) {
    if (frame.type !== "started") frames.push(frame);
  }
  return frames;
}

export function types(frames: readonly OpFrame[]): string[] {
  return frames.map((one) => one.type);
}

/** One call of a tool, one answer. */
export const oneCall: RunExecutor = async (context) => {
  const call = await context.toolCall("fs.read", { path: "a" });
  await context.toolResult(call, "fs.read", { status: "ok", output: "content", dropped: 0 });
  await context.usage("debug/echo", 3, 5);
  context.delta("ans");
  context.delta("wer");
  await context.message(`answer to ${context.input}`);
  return { status: "ok" };
};

/** An executor that a test holds in its hands: each run waits until the test lets it return. */
export class Puppet {
  readonly runs: RunContext[] = [];
  readonly #waiting: ((context: RunContext) => void)[] = [];
  readonly #returns = new Map<string, (outcome: RunOutcome) => void>();

  readonly executor: RunExecutor = (context) => {
    const returned = new Promise<RunOutcome>((resolve) => {
      this.#returns.set(context.run, resolve);
    });
    this.runs.push(context);
    this.#waiting.shift()?.(context);
    return returned;
  };

  /** The next run that begins after now. */
  next(): Promise<RunContext> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  finish(run: string, outcome: RunOutcome = { status: "ok" }): void {
    this.#returns.get(run)?.(outcome);
  }
}

/** The run that a stream's first frame names. */
export async function started(stream: FrameStream): Promise<string> {
  const first = await stream[Symbol.asyncIterator]().next();
  if (first.done || first.value.type !== "start") throw new Error("no start frame");
  return first.value.run;
}
