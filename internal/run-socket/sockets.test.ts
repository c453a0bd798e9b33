// What is asked and how it is answered, with this very process as launch root and peer. Who may ask is
// tested with sandboxes in sandbox.test.ts.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { lstatSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  type Answer,
  answerOf,
  ask,
  authorize,
  connect,
  modelUse,
  Stage,
  update,
} from "../../testdata/run-socket/stage.ts";
import { CodedError } from "../abi/mod.ts";
import { type ProcessStamp, processFacts } from "../os/mod.ts";
import { Attempts } from "./attempts.ts";
import {
  createRunSockets,
  runAttemptsMax,
  runConnectionsMax,
  runRequestsAtOnceMax,
} from "./mod.ts";

const self = processFacts(process.pid) as ProcessStamp;
let stage: Stage;
beforeEach(() => {
  stage = new Stage();
  stage.roots = [self];
});
afterEach(() => stage.end());

const refused = (id: string | null, code: string) => ({
  request_id: id,
  ok: false,
  code,
  message: expect.any(String),
});

describe("a request", () => {
  test("is answered under its id, each in its turn", async () => {
    const connection = await connect(stage.open());
    const lines = [update("a"), authorize("b"), update("c")].map((one) => JSON.stringify(one));
    void connection.send(`${lines.join("\n")}\n`);
    expect([
      await answerOf(connection),
      await answerOf(connection),
      await answerOf(connection),
    ]).toEqual([
      { request_id: "a", ok: true, control: "system.md" },
      { request_id: "b", ok: true, decision: { allowed: true, layers: [] } },
      { request_id: "c", ok: true, control: "system.md" },
    ]);
    connection.end();
  });

  test("with an old token is served, and the token is not handed on", async () => {
    let seen: object = {};
    const socket = stage.open({
      update: async (request) => {
        seen = request;
        return { request_id: request.request_id, ok: true };
      },
    });
    const connection = await connect(socket);
    expect(await ask(connection, update("a", { token: "secret" }))).toMatchObject({ ok: true });
    expect(seen).toEqual(update("a"));
    connection.end();
  });

  test("that is wrong is refused with its code, reaches no handler and uses its id up", async () => {
    const connection = await connect(stage.open());
    const cases: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
      [{ agent: "reviewer" }, "EACCES"],
      [{ session: "other" }, "EACCES"],
      [{ run: "run-2" }, "EACCES"],
      [{ run: undefined }, "EINVAL"],
      [{ control: "policy" }, "EINVAL"],
      [{ control: "perm" }, "EINVAL"],
      [{ control: "../reviewer.d/system.md" }, "EINVAL"],
      [{ control: "/etc/passwd" }, "EINVAL"],
      [{ content: "x".repeat(8193) }, "EMSGSIZE"],
      [{ content: `${"é".repeat(4096)}x` }, "EMSGSIZE"],
      [{ content: "a\0b" }, "EINVAL"],
      [{ content: 7 }, "EINVAL"],
      [{ op: "agent.destroy" }, "EINVAL"],
      [{ op: "agent.stop", agent: "child" }, "EHOSTDOWN"],
    ];
    for (const [index, [change, code]] of cases.entries()) {
      const id = `wrong-${index}`;
      const wrong = await ask(connection, update(id, change));
      expect([change, wrong]).toEqual([change, refused(id, code)]);
      expect(await ask(connection, update(id))).toEqual(refused(id, "EALREADY"));
    }
    expect(stage.served).toEqual([]);
    connection.end();
  });

  test("whose id was used is refused on every connection of the run, whatever it asks", async () => {
    const socket = stage.open();
    const first = await connect(socket);
    const second = await connect(socket);
    expect(await ask(first, update("a"))).toMatchObject({ ok: true });
    for (const request of [update("a"), authorize("a"), modelUse("a"), { request_id: "a" }]) {
      expect(await ask(second, request)).toEqual(refused("a", "EALREADY"));
    }
    expect(stage.served).toEqual(["agent.update a"]);
    first.end();
    second.end();
  });

  test("without a usable id is refused without one, and the next is served", async () => {
    const connection = await connect(stage.open());
    for (const line of ["{", "[]", "null", "{}", '{"op":"agent.update","request_id":7}']) {
      expect([line, await ask(connection, line)]).toEqual([line, refused(null, "EINVAL")]);
    }
    expect(await ask(connection, update("x".repeat(257)))).toEqual(refused(null, "EINVAL"));
    expect(await ask(connection, update("a"))).toMatchObject({ ok: true });
    connection.end();
  });

  test("that a handler refuses gets its code; a bug of the host is told of and not shown", async () => {
    const bug = new TypeError("secret detail");
    const socket = stage.open({
      update: async ({ request_id }) => {
        if (request_id === "bug") throw bug;
        throw new CodedError("ENOSPC", "no space is left");
      },
      authorize: async () => ({
        ...{ request_id: "?", ok: false, code: "EACCES", message: "no" },
        decision: { allowed: false, layers: [] },
      }),
    });
    const connection = await connect(socket);
    expect(await ask(connection, update("a"))).toEqual({
      ...refused("a", "ENOSPC"),
      message: "no space is left",
    });
    expect(await ask(connection, authorize("b"))).toEqual({
      ...refused("b", "EACCES"),
      decision: { allowed: false, layers: [] },
    });
    const told = await ask(connection, update("bug"));
    expect([told, JSON.stringify(told).includes("secret")]).toEqual([refused("bug", "EIO"), false]);
    expect(stage.faults).toEqual([bug]);
    connection.end();
  });
});

describe("a line", () => {
  test("that is too long, not UTF-8 or unfinished is refused, and the connection closes", async () => {
    const socket = stage.open();
    for (const [bytes, code] of [
      [new Uint8Array(1024 * 1024 + 1).fill(0x20), "EMSGSIZE"],
      [new Uint8Array([0xff, 0x0a]), "EINVAL"],
    ] as const) {
      const got = await rawAnswers(join(socket.folder, "control.sock"), bytes);
      expect(got).toEqual([refused(null, code)]);
    }
    const half = new TextEncoder().encode(JSON.stringify(update("half")));
    expect(await rawAnswers(join(socket.folder, "control.sock"), half, true)).toEqual([
      refused(null, "EINVAL"),
    ]);
    expect(stage.served).toEqual([]);
  });
});

describe("model.use", () => {
  const frame = (n: number, rest: object) => ({
    request_id: "m",
    id: `frame-${n}`,
    run: "run-1",
    ...rest,
  });

  test("is answered by frames that name the request, done last", async () => {
    const connection = await connect(stage.open());
    const frames = [await ask(connection, modelUse("m"))];
    frames.push(await answerOf(connection), await answerOf(connection));
    expect(frames).toEqual([
      frame(1, { type: "delta", text: "hi" }),
      frame(2, { type: "message", role: "assistant", content: [{ type: "text", text: "hi" }] }),
      frame(3, { type: "done", status: "ok" }),
    ]);
    expect(await ask(connection, update("a"))).toMatchObject({ request_id: "a", ok: true });
    connection.end();
  });

  test("that is not let in is a refusal and nothing follows; one that fails ends with it", async () => {
    let begun = false;
    const socket = stage.open({
      useModel: async (_, emit) => {
        if (begun) emit({ type: "delta", text: "h" });
        throw new CodedError("EACCES", "not allowed");
      },
    });
    const connection = await connect(socket);
    expect(await ask(connection, modelUse("no"))).toEqual(refused("no", "EACCES"));
    begun = true;
    expect([
      await ask(connection, modelUse("m")),
      await answerOf(connection),
      await answerOf(connection),
    ]).toEqual([
      frame(1, { type: "delta", text: "h" }),
      frame(2, { type: "error", code: "EACCES", message: "not allowed" }),
      frame(3, { type: "done", status: "error", code: "EACCES" }),
    ]);
    connection.end();
  });

  test("is told when its asker has gone and when the run ends", async () => {
    for (const leave of ["asker", "run"] as const) {
      const asked = Promise.withResolvers<void>();
      const aborted = Promise.withResolvers<void>();
      const socket = stage.open({
        useModel: async (_, emit, signal) => {
          emit({ type: "delta", text: "h" });
          asked.resolve();
          const tick = setInterval(() => emit({ type: "delta", text: "h" }), 5);
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          clearInterval(tick);
          aborted.resolve();
          return { status: "cancelled" };
        },
      });
      const connection = await connect(socket);
      void connection.send(`${JSON.stringify(modelUse(leave))}\n`);
      await asked.promise;
      if (leave === "asker") connection.destroy();
      else await socket.close();
      await aborted.promise;
      await socket.close();
    }
  });
});

describe("bounds", () => {
  test("connections past the bound get busy, and a place that is left is free again", async () => {
    const socket = stage.open();
    const open = [];
    for (let n = 0; n < runConnectionsMax; n++) {
      const connection = await connect(socket);
      expect(await ask(connection, authorize(`id-${n}`))).toMatchObject({ ok: true });
      open.push(connection);
    }
    const late = await connect(socket);
    expect(await answerOf(late)).toEqual(refused(null, "busy"));
    for (const connection of open) connection.end();
    await Promise.all(open.map(({ closed }) => closed));
    expect(await served(() => connect(socket).then((one) => ask(one, authorize("free"))))).toEqual(
      true,
    );
  });

  test("requests at once past the bound get busy, which uses the id up", async () => {
    const release = Promise.withResolvers<void>();
    const socket = stage.open({
      update: async ({ request_id }) => {
        await release.promise;
        return { request_id, ok: true };
      },
    });
    const waiting: Promise<Answer>[] = [];
    for (let n = 0; n < runRequestsAtOnceMax; n++) {
      const connection = await connect(socket);
      waiting.push(ask(connection, update(`id-${n}`)));
      // Each is being served before the next one comes.
      expect(await ask(await connect(socket), update(`id-${n}`))).toEqual(
        refused(`id-${n}`, "EALREADY"),
      );
    }
    const late = await connect(socket);
    expect(await ask(late, update("late"))).toEqual(refused("late", "busy"));
    expect(await ask(late, update("late"))).toEqual(refused("late", "EALREADY"));
    release.resolve();
    for (const answer of waiting) expect(await answer).toMatchObject({ ok: true });
  });

  test("a run may ask so many times and no more", () => {
    const attempts = new Attempts();
    for (let n = 0; n < runAttemptsMax; n++) attempts.count();
    expect(() => attempts.count()).toThrow("which is all it may");
  });
});

describe("the folder of a run", () => {
  const modeOf = (path: string) => (lstatSync(path).mode & 0o7777).toString(8);

  test("holds the socket alone, which only the agent's uid may use", () => {
    for (const uid of process.getuid?.() === 0 ? [0, 61184] : [process.getuid?.() ?? 0]) {
      const { folder } = stage.open({}, { peerUid: uid, session: `s${uid}` });
      const socket = join(folder, "control.sock");
      expect(readdirSync(folder)).toEqual(["control.sock"]);
      expect([modeOf(socket), lstatSync(socket).uid]).toEqual(["600", uid]);
      const searchable = uid === process.getuid?.() ? "700" : "711";
      expect([modeOf(folder), modeOf(dirname(folder))]).toEqual([searchable, "711"]);
      expect(lstatSync(folder).uid).toBe(process.getuid?.() ?? 0);
    }
  });

  test("has a short name for the longest names, the same for each run of a session", async () => {
    const names = { agent: "a".repeat(64), session: "s".repeat(64) };
    const first = stage.open({}, { ...names, run: "r".repeat(256) });
    const connection = await connect(first);
    expect(await ask(connection, authorize("a"))).toMatchObject({ ok: true });
    await first.close();
    const second = stage.open({}, { ...names, run: "another" });
    expect(second.folder).toBe(first.folder);
    expect(second.folder.length - stage.runtime.length).toBeLessThan(50);
    const other = stage.open({}, { ...names, session: "t" });
    expect(other.folder).not.toBe(second.folder);
  });

  test("has one run at a time, and the other sessions have theirs", async () => {
    const first = stage.open();
    expect(() => stage.open({}, { run: "run-2" })).toThrow("another run of this session is open");
    const second = stage.open({}, { session: "other", run: "run-2" });
    const connection = await connect(first);
    expect(await ask(connection, update("a"))).toMatchObject({ ok: true });
    const other = await connect(second);
    expect(await ask(other, update("a"))).toEqual(refused("a", "EACCES"));
    await first.close();
    await stage.open({}, { run: "run-2" }).close();
  });

  test("is empty when the run is closed, however often, and its connections are gone", async () => {
    const socket = stage.open();
    const connection = await connect(socket);
    expect(await ask(connection, authorize("a"))).toMatchObject({ ok: true });
    await Promise.all([socket.close(), socket.close()]);
    expect(readdirSync(socket.folder)).toEqual([]);
    expect(await answerOf(connection)).toBeUndefined();
  });

  test("that an earlier server left is removed at the start", () => {
    const left = join(stage.runtime, "capability", "left");
    mkdirSync(left);
    writeFileSync(join(left, "control.sock"), "");
    createRunSockets({ runtime: stage.runtime, roots: () => [] });
    expect(readdirSync(join(stage.runtime, "capability"))).toEqual([]);
  });
});

describe("a connection", () => {
  test("is judged again at each request", async () => {
    const connection = await connect(stage.open());
    expect(await ask(connection, authorize("a"))).toMatchObject({ ok: true });
    stage.roots = [];
    expect(await ask(connection, update("b"))).toEqual(refused(null, "EACCES"));
    expect(await answerOf(connection)).toBeUndefined();
    expect(stage.served).toEqual(["tool.authorize a"]);
  });

  test("of a process with the root's pid and another start time is refused", async () => {
    for (const later of [-1n, 1n]) {
      const startTime = String(BigInt(self.startTime) + later);
      stage.roots = [{ pid: self.pid, startTime }];
      const socket = stage.open({}, { session: `s${later}` });
      const connection = await connect(socket);
      expect(await ask(connection, update("a", { token: "old" }))).toEqual(refused(null, "EACCES"));
      await socket.close();
    }
    expect(stage.served).toEqual([]);
  });
});

/** Tries until the server has noticed what it must. */
async function served(attempt: () => Promise<Answer>): Promise<boolean> {
  for (;;) {
    const answer = await attempt();
    if (answer?.["ok"] === true) return true;
    if (answer?.["code"] !== "busy") return false;
  }
}

async function rawAnswers(path: string, bytes: Uint8Array, close = false): Promise<unknown[]> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let text = "";
  const socket = await Bun.connect({
    unix: path,
    allowHalfOpen: true,
    socket: {
      data: (_, chunk) => {
        text += new TextDecoder().decode(chunk);
      },
      drain: (one) => push(one),
      end: () => resolve(),
      close: () => resolve(),
      error: () => resolve(),
    },
  } as Parameters<typeof Bun.connect>[0]);
  let sent = 0;
  const push = (one: { write(bytes: Uint8Array): number; shutdown(): void }) => {
    sent += Math.max(0, one.write(bytes.subarray(sent)));
    if (sent === bytes.length && close) one.shutdown();
  };
  push(socket);
  await promise;
  socket.terminate();
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as unknown);
}
