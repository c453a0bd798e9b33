// A word that is said in a terminal, over frames that a test makes. With real sessions, sandboxes and the
// real shell it is tested end to end.

import { expect, test } from "bun:test";
import { fail } from "../abi/mod.ts";
import type { RunRequest, SessionFrame } from "../interaction/mod.ts";
import { doWords } from "./terminal-words.ts";

const start = { type: "start", id: "t", seq: 1, run: "run-1", model: "none" } as const;
const done = { type: "done", id: "evt-9", seq: 9, run: "run-1" } as const;
const result = (content: string): Extract<SessionFrame, { type: "tool_result" }> => ({
  ...{ type: "tool_result", id: "c", seq: 3, run: "run-1", name: "tsh", status: "ok" },
  ...{ content, truncated: false },
});

class Played {
  readonly sent: RunRequest[] = [];
  readonly cancelled: string[] = [];
  closed = 0;
  readonly #frames: readonly SessionFrame[];
  readonly begun = Promise.withResolvers<void>();
  readonly #over = Promise.withResolvers<void>();

  constructor(...frames: SessionFrame[]) {
    this.#frames = frames;
  }

  async send(_agent: string, request: RunRequest) {
    this.sent.push(request);
    const frames = this.#tell();
    const close = () => {
      this.closed += 1;
      this.#over.resolve();
    };
    const nothing = () => undefined;
    return Object.assign(frames, {
      ...{ close, answer: nothing, malformedAnswer: nothing, answersEnded: nothing },
    });
  }

  /** What it has, and then nothing until it is closed. */
  async *#tell(): AsyncGenerator<SessionFrame> {
    yield* this.#frames;
    this.begun.resolve();
    await this.#over.promise;
  }

  async cancel(_agent: string, run: string) {
    this.cancelled.push(run);
    return fail("ENOENT", "it is over");
  }

  say(signal = new AbortController().signal, admit: (request: unknown) => void = () => undefined) {
    const words = { agent: "coder", session: "mine", args: ["pin", "fs.read"], signal };
    return doWords({ sessions: this, admit }, words);
  }
}

test("is a request of the host's own for that session, and its result is the answer", async () => {
  const played = new Played(start, result("fs.read is pinned"), { ...done, status: "ok" });
  const admitted: unknown[] = [];
  expect(await played.say(undefined, (one) => admitted.push(one))).toBe("fs.read is pinned");
  const id = expect.stringMatching(/^terminal-/);
  const request = { op: "tsh", id, session: "mine", scope: { kind: "private" } };
  expect(played.sent).toEqual([{ ...request, args: ["pin", "fs.read"] } as never]);
  expect(admitted).toEqual(played.sent);
  expect([played.closed, played.cancelled]).toEqual([1, []]);
});

test("that is refused has the code, and the reason with its hint on one line", async () => {
  const content = 'tool "x" does not exist [ENOENT]\nhint: tools lists them';
  const refused = { ...result(content), status: "error", code: "ENOENT" } as const;
  await expect(new Played(start, refused, { ...done, status: "ok" }).say()).rejects.toMatchObject({
    ...{ code: "ENOENT", message: 'tool "x" does not exist; tools lists them' },
  });
});

test("that never comes to a result says how it ended", async () => {
  for (const [end, code] of [
    [{ ...done, status: "cancelled" }, "ECANCELED"],
    [{ ...done, status: "interrupted" }, "EIO"],
    [{ ...done, status: "error", code: "ENOSPC" }, "ENOSPC"],
    [{ type: "error", id: "e", seq: 2, run: "run-1", code: "EACCES", message: "no" }, "EACCES"],
  ] as const) {
    await expect(new Played(start, end).say()).rejects.toMatchObject({ code });
  }
  const admit = () => fail("EACCES", "belongs to another");
  await expect(new Played(start).say(undefined, admit)).rejects.toMatchObject({ code: "EACCES" });
});

test("that nobody waits for any more is cancelled where it waits", async () => {
  const controller = new AbortController();
  const played = new Played({ ...start, queued: true });
  const said = played.say(controller.signal);
  await played.begun.promise;
  controller.abort();
  await expect(said).rejects.toMatchObject({ code: "ECANCELED" });
  expect(played.cancelled).toEqual(["run-1"]);
  const early = new Played({ ...start, queued: true });
  await expect(early.say(AbortSignal.abort())).rejects.toMatchObject({ code: "ECANCELED" });
  await early.begun.promise;
  expect(early.cancelled).toEqual(["run-1"]);
});
