// What is asked and how it is answered, with this very process as launch root and peer. Who may ask is
// tested with sandboxes in sandbox.test.ts.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import {
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
