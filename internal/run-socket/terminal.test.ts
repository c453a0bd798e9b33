// What a terminal's socket has of its own. Calls themselves are tested with their host.

import { describe, expect, test } from "bun:test";
import { ask, connect, Stage } from "../../testdata/run-socket/stage.ts";
import { type ProcessStamp, processFacts } from "../os/mod.ts";
import { Attempts } from "./attempts.ts";
import { runAttemptsMax } from "./bounds.ts";

const used = (attempts: Attempts, id: string) => {
  try {
    attempts.consume(id);
    return false;
  } catch {
    return true;
  }
};

describe("the attempts of a terminal", () => {
  test("have no end, and the latest ids are remembered", () => {
    const attempts = new Attempts("terminal");
    for (let at = 0; at <= runAttemptsMax; at += 1) {
      attempts.count();
      attempts.consume(`${at}`);
    }
    expect(() => attempts.count()).not.toThrow();
    expect([used(attempts, "1"), used(attempts, `${runAttemptsMax}`)]).toEqual([true, true]);
    expect(used(attempts, "0")).toBe(false);
  });

  test("of a run have one", () => {
    const attempts = new Attempts();
    for (let at = 0; at < runAttemptsMax; at += 1) attempts.count();
    expect(() => attempts.count()).toThrow(expect.objectContaining({ code: "busy" }));
  });
});

test("a run's socket takes no offer to serve and no word about what is loaded", async () => {
  const stage = new Stage();
  stage.roots = [processFacts(process.pid) as ProcessStamp];
  const connection = await connect(stage.open());
  const offer = { op: "terminal.serve", request_id: "s1" };
  expect(await ask(connection, offer)).toMatchObject({ request_id: "s1", code: "EACCES" });
  const word = { op: "tsh", request_id: "w1", args: ["loads"] };
  expect(await ask(connection, word)).toMatchObject({ request_id: "w1", code: "EACCES" });
  connection.end();
  await stage.end();
});
