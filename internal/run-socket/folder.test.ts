import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { lstatSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  answerOf,
  ask,
  authorize,
  connect,
  Stage,
  update,
} from "../../testdata/run-socket/stage.ts";
import { type ProcessStamp, processFacts } from "../os/mod.ts";
import { createRunSockets } from "./mod.ts";

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

  test("has a short name for the longest names, the same for the next run of its session", async () => {
    const names = { agent: "a".repeat(64), session: "s".repeat(64) };
    const first = stage.open({}, { ...names, run: "r".repeat(256) });
    const connection = await connect(first);
    expect(await ask(connection, authorize("a"))).toMatchObject({ ok: true });
    await first.close();
    const second = stage.open({}, { ...names, run: "another" });
    expect(second.folder).toBe(first.folder);
    expect(second.folder.length - stage.runtime.length).toBeLessThan(50);
    const other = stage.open({}, { ...names, session: "t", run: "third" });
    expect(other.folder).not.toBe(second.folder);
  });

  test("has one run at a time, and the other sessions have theirs", async () => {
    const first = stage.open();
    expect(() => stage.open({}, { run: "run-2" })).toThrow("another run has this folder");
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
