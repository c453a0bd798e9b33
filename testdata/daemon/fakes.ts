// Stand-ins for the services behind the sockets: an agent that answers by what the input says. They
// let the tests of the server see what reaches a session, and decide when a run goes on.

import type { Parts } from "../../internal/daemon/mod.ts";
import type { OpFrame } from "../../internal/interaction/mod.ts";
import type { FrameStream } from "../../internal/session/mod.ts";

export interface FakeLog {
  /** Requests that reached the sessions, as `op:agent:detail`. */
  readonly calls: string[];
  /** What the streams were told by the other end of their connection. */
  readonly answers: string[];
  /** Frames that were produced for a stream. */
  produced: number;
  /** Streams that were closed by the server or ran to their end. */
  closedStreams: number;
  /** Lets every held run go on. */
  release(): void;
}

/**
 * Inputs: "hold" waits for `release`, "flood N" produces N large deltas, "fail" throws; anything
 * else is said back.
 */
export function fakeParts(): { parts: Parts; log: FakeLog } {
  let wake = () => {};
  const held = () =>
    new Promise<void>((resolve) => {
      const before = wake;
      wake = () => {
        before();
        resolve();
      };
    });
  const log: FakeLog = {
    calls: [],
    answers: [],
    produced: 0,
    closedStreams: 0,
    release: () => wake(),
  };
  const sessions = {
    async send(agent: string, request: { id: string; input: string }) {
      log.calls.push(`send:${agent}:${request.id}`);
      if (request.input === "fail") throw Object.assign(new Error("disk is gone"), { code: "EIO" });
      return streamOf(runFrames(request.input, held), log);
    },
    async resume(agent: string, request: { session: string }) {
      log.calls.push(`resume:${agent}:${request.session}`);
      return streamOf(runFrames("again", held), log);
    },
    async status(agent: string, request: { session: string }): Promise<OpFrame> {
      log.calls.push(`status:${agent}:${request.session}`);
      return {
        type: "status",
        id: "1",
        session: request.session,
        status: "idle",
        phase: "idle",
        run: null,
        step: 0,
        model: null,
        updated_at: "2026-01-01T00:00:00.000Z",
      };
    },
    async cancel(agent: string, run: string): Promise<OpFrame[]> {
      log.calls.push(`cancel:${agent}:${run}`);
      return [{ type: "done", id: "9", run, status: "cancelled" }];
    },
    counts: () => ({ open: 0, running: 0, queued: 0 }),
    async close() {
      log.calls.push("close");
      wake();
    },
  };
  const launcher = { close: async () => {} };
  const parts = {
    createSessions: () => sessions,
    createLauncher: () => launcher,
    createTerminals: async () => ({ list: () => [], close: async () => {} }),
    createExecutor: () => async () => ({ status: "ok" }),
  } as unknown as Parts;
  return { parts, log };
}

async function* runFrames(input: string, held: () => Promise<void>): AsyncGenerator<OpFrame> {
  const run = "ctx-0";
  yield { type: "start", id: "1", seq: 1, run, model: "debug/echo" };
  if (input === "hold") await held();
  const flood = /^flood ([0-9]+)$/.exec(input);
  for (let number = 0; number < Number(flood?.[1] ?? 0); number += 1) {
    yield { type: "delta", id: "1", run, text: "x".repeat(1000) };
  }
  const content = [{ type: "text" as const, text: input }];
  yield { type: "message", id: "2", seq: 2, run, role: "assistant", content };
  yield { type: "done", id: "3", seq: 3, run, status: "ok" };
}

function streamOf(frames: AsyncGenerator<OpFrame>, log: FakeLog): FrameStream {
  let closed = false;
  return {
    close() {
      if (!closed) log.closedStreams += 1;
      closed = true;
    },
    answer({ call, decision, reason, digest }) {
      log.answers.push([call, decision, reason ?? "-", digest ?? "-"].join(":"));
      if (call !== "call-1") {
        throw Object.assign(new Error("the answer names another call"), { code: "EINVAL" });
      }
    },
    malformedAnswer: (reason) => void log.answers.push(`malformed: ${reason}`),
    answersEnded: () => void log.answers.push("ended"),
    async *[Symbol.asyncIterator]() {
      for await (const frame of frames) {
        if (closed) return;
        log.produced += 1;
        yield frame;
      }
    },
  };
}
