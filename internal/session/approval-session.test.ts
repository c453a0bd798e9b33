import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { OpFrame } from "../interaction/mod.ts";
import {
  collect,
  type Place,
  Puppet,
  place,
  readLines,
  resume,
  send,
  service,
  status,
} from "./fixture.ts";
import type { Sessions } from "./sessions.ts";
import type { FrameStream } from "./stream.ts";
import type { RunContext } from "./types.ts";

const question = { name: "fs.write", args: { path: "a" }, cwd: "/workspace", digest: "d1" };

let at: Place;
let puppet: Puppet;
let sessions: Sessions;

beforeAll(() => {
  at = place();
  puppet = new Puppet();
  sessions = service(at, puppet.executor);
});
afterAll(async () => {
  await sessions.close();
  at.remove();
});

interface Asked {
  readonly stream: FrameStream;
  readonly context: RunContext;
  readonly call: string;
  /** Settles with the decision's kind and reason, or the code of what was thrown. */
  readonly decided: Promise<string>;
  readonly frame: Extract<OpFrame, { type: "approval_request" }>;
}

let number = 0;

/** A run in a session of its own whose one call waits for its origin. */
async function ask(by: Sessions = sessions, from: Puppet = puppet): Promise<Asked> {
  number += 1;
  const begun = from.next();
  const stream = await by.send("coder", send(`msg-${number}`, { session: `s${number}` }));
  const context = await begun;
  const call = await context.toolCall(question.name, question.args);
  const decided = context.approval(call, question).then(
    (one) => (one.kind === "denied" && one.reason ? `denied: ${one.reason}` : one.kind),
    (error) => `thrown ${error.code}`,
  );
  const frame = await until(stream, "approval_request");
  return { stream, context, call, decided, frame };
}

async function until<T extends OpFrame["type"]>(
  stream: FrameStream,
  type: T,
): Promise<Extract<OpFrame, { type: T }>> {
  const iterator = stream[Symbol.asyncIterator]();
  for (;;) {
    const { value, done } = await iterator.next();
    if (done) throw new Error(`no ${type}`);
    if (value.type === type) return value as Extract<OpFrame, { type: T }>;
  }
}

const codeOf = (act: () => void): string => {
  try {
    act();
    return "nothing";
  } catch (error) {
    return (error as { code: string }).code;
  }
};

const recordsOf = (context: RunContext) =>
  readLines(`${context.sessionFolder}/events.jsonl`)
    .filter(({ type }) => String(type).startsWith("approval."))
    .map(({ type, call, object, status, text, by, cwd, digest }) =>
      Object.fromEntries(
        Object.entries({ type, call, object, status, text, by, cwd, digest }).filter(
          ([, value]) => value !== undefined,
        ),
      ),
    );

async function finish({ stream, context }: Asked): Promise<OpFrame[]> {
  puppet.finish(context.run);
  return collect(stream);
}

describe("an approval", () => {
  test("is asked of the origin with the exact call and recorded with its answer", async () => {
    const asked = await ask();
    const { stream, context, call, frame } = asked;
    const { seq, expires_at, ...rest } = frame;
    expect(rest).toEqual({ type: "approval_request", id: call, run: context.run, ...question });
    expect(Number.isInteger(seq)).toBe(true);
    expect(Date.parse(expires_at) - Date.now()).toBeGreaterThan(50_000);
    const now = await sessions.status("coder", status(`s${number}`));
    expect(now).toMatchObject({ status: "active", phase: "approval" });
    stream.answer({ run: context.run, call, decision: "allow_once", digest: "d1" });
    expect(await asked.decided).toBe("allowed");
    const about = { call, object: "tool/fs.write" };
    expect(recordsOf(context)).toEqual([
      { type: "approval.request", ...about, cwd: "/workspace", digest: "d1" },
      { type: "approval.result", ...about, status: "allowed" },
    ]);
    expect(await sessions.status("coder", status(`s${number}`))).not.toMatchObject({
      phase: "approval",
    });
    await finish(asked);
  });

  test("that is denied hands on the reason", async () => {
    const asked = await ask();
    const { stream, context, call } = asked;
    stream.answer({ run: context.run, call, decision: "deny", reason: "not that file" });
    expect(await asked.decided).toBe("denied: not that file");
    expect(recordsOf(context).at(-1)).toMatchObject({
      status: "denied",
      by: "answer",
      text: "not that file",
    });
    await finish(asked);
  });

  test.each([
    ["another run", { run: "ctx-other" }],
    ["another call", { call: "call-99" }],
    ["another digest", { digest: "d2" }],
  ])("is denied by an answer that names %s", async (name, change) => {
    const asked = await ask();
    const { stream, context, call } = asked;
    const answer = { run: context.run, call, decision: "allow_once" as const, ...change };
    expect(codeOf(() => stream.answer(answer))).toBe("EINVAL");
    expect(await asked.decided).toEndWith(name);
    await finish(asked);
  });

  test("takes one answer: the same again does nothing, another is refused", async () => {
    const asked = await ask();
    const { stream, context, call } = asked;
    const answer = { run: context.run, call, decision: "allow_once" as const };
    stream.answer(answer);
    expect(codeOf(() => stream.answer(answer))).toBe("nothing");
    expect(codeOf(() => stream.answer({ ...answer, decision: "deny" }))).toBe("EALREADY");
    expect(await asked.decided).toBe("allowed");
    expect(recordsOf(context)).toHaveLength(2);
    await finish(asked);
  });

  test("is not shown to a resume nor to a replay, and neither can answer", async () => {
    const asked = await ask();
    const { context, call, stream } = asked;
    const session = `s${number}`;
    const others = [
      await sessions.resume("coder", resume(undefined, session)),
      await sessions.send("coder", send(`msg-${number}`, { session })),
    ];
    const answer = { run: context.run, call, decision: "allow_once" as const };
    for (const other of others) {
      expect(codeOf(() => other.answer(answer))).toBe("EACCES");
      other.malformedAnswer("garbage");
      other.answersEnded();
    }
    const seen = others.map(collect);
    stream.answer({ ...answer, decision: "deny" });
    expect(await asked.decided).toBe("denied");
    await finish(asked);
    for (const frames of await Promise.all(seen)) {
      const types = frames.map((one) => one.type);
      expect(types).toContain("tool_call");
      expect(types).not.toContain("approval_request");
    }
  });

  test("is denied when its origin leaves, and so is the next one of the run", async () => {
    const asked = await ask();
    const { stream, context } = asked;
    stream.close();
    expect(await asked.decided).toBe("origin_lost");
    const call = await context.toolCall("fs.read", {});
    expect(await context.approval(call, question)).toEqual({ kind: "origin_lost" });
    expect(recordsOf(context).map(({ status }) => status ?? "asked")).toEqual([
      "asked",
      "origin_lost",
      "asked",
      "origin_lost",
    ]);
    puppet.finish(context.run);
  });

  test("is denied at once when the origin can say nothing any more", async () => {
    const asked = await ask();
    asked.stream.answersEnded();
    expect(await asked.decided).toBe("origin_lost");
    await finish(asked);
  });

  test("is denied by what is no answer", async () => {
    const asked = await ask();
    asked.stream.malformedAnswer("request is not valid JSON");
    expect(await asked.decided).toBe("denied: request is not valid JSON");
    await finish(asked);
  });

  test("ends with its run when that is cancelled: both are recorded, nothing goes on", async () => {
    const asked = await ask();
    const { context, call, stream } = asked;
    const [done] = await sessions.cancel("coder", context.run);
    expect(done).toMatchObject({ type: "done", status: "cancelled" });
    expect(await asked.decided).toBe("thrown ECANCELED");
    expect(recordsOf(context).at(-1)).toEqual({
      type: "approval.result",
      call,
      object: "tool/fs.write",
      status: "cancelled",
    });
    const answer = { run: context.run, call, decision: "allow_once" as const };
    expect(codeOf(() => stream.answer(answer))).toBe("EINVAL");
    await finish(asked);
  });

  test("is denied when its time is over", async () => {
    const short = new Puppet();
    const other = place();
    const own = service(other, short.executor, { approvalTimeoutMs: 20 });
    const asked = await ask(own, short);
    expect(await asked.decided).toBe("timed_out");
    expect(recordsOf(asked.context).at(-1)).toMatchObject({ status: "timed_out" });
    short.finish(asked.context.run);
    await own.close();
    other.remove();
  });

  test("ends as interrupted with the host, and an open again leaves it so", async () => {
    const own = new Puppet();
    const other = place();
    const first = service(other, own.executor);
    const asked = await ask(first, own);
    const closing = first.close();
    expect(await asked.decided).toBe("thrown ECANCELED");
    own.finish(asked.context.run);
    await collect(asked.stream);
    await closing;
    expect(recordsOf(asked.context).map(({ status }) => status ?? "asked")).toEqual([
      "asked",
      "interrupted",
    ]);
    other.remove();
  });

  test("holds up no other session", async () => {
    const asked = await ask();
    const begun = puppet.next();
    const stream = await sessions.send("coder", send("beside", { session: "beside" }));
    puppet.finish((await begun).run);
    expect((await collect(stream)).at(-1)).toMatchObject({ type: "done", status: "ok" });
    expect(recordsOf(asked.context)).toHaveLength(1);
    asked.stream.close();
    await asked.decided;
    puppet.finish(asked.context.run);
  });
});
