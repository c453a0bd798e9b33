import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  type Answer,
  answerOf,
  ask,
  authorize,
  connect,
  Stage,
  update,
} from "../../testdata/run-socket/stage.ts";
import { type ProcessStamp, processFacts } from "../os/mod.ts";
import type { Connection } from "../sock/mod.ts";
import { Attempts } from "./attempts.ts";
import { runAttemptsMax, runConnectionsMax, runRequestsAtOnceMax } from "./mod.ts";

let stage: Stage;
beforeEach(() => {
  stage = new Stage();
  stage.roots = [processFacts(process.pid) as ProcessStamp];
});
afterEach(() => stage.end());

const refused = (id: string | null, code: string) => ({
  request_id: id,
  ok: false,
  code,
  message: expect.any(String),
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

  test("a run with a thousand lines at once keeps no other run waiting", async () => {
    const many = await connect(stage.open());
    const other = await connect(stage.open({}, { run: "run-2", session: "other" }));
    await flood(many, 1000);
    while (stage.served.length === 0) await new Promise(setImmediate);
    expect(await ask(other, authorize("other"))).toMatchObject({ ok: true });
    expect(stage.served.length).toBeLessThan(300);
  });

  test("a run that is over is not kept open by the lines that wait", async () => {
    const socket = stage.open();
    await flood(await connect(socket), 1000);
    while (stage.served.length === 0) await new Promise(setImmediate);
    await socket.close();
    expect(stage.served.length).toBeLessThan(300);
  });

  test("a run may ask so many times and no more", () => {
    const attempts = new Attempts();
    for (let n = 0; n < runAttemptsMax; n++) attempts.count();
    expect(() => attempts.count()).toThrow("which is all it may");
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

function flood(connection: Connection, count: number): Promise<void> | undefined {
  const lines = Array.from({ length: count }, (_, n) => JSON.stringify(authorize(`flood-${n}`)));
  return connection.send(`${lines.join("\n")}\n`);
}
