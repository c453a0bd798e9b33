import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { RawClient } from "./raw-client.ts";
import { type Frame, World } from "./world.ts";

const world = new World();
const abi = "cortexfs.interaction/v1";

type Value = Record<string, unknown>;

const eventOf = (frame: Frame) => (frame["payload"] as { value: Value } | undefined)?.value ?? {};
const typeOf = (frame: Frame) => String(eventOf(frame)["type"]);

function connect(agent = "coder"): RawClient {
  return new RawClient(`${world.source}/agent/${agent}.sock`, world.uid);
}

const envelope = (value: Value) => ({ abi, payload: { direction: "request", value } });

const input = (id: string, text: string, more: Value = {}) => ({
  type: "input",
  ...{ request_id: id, session: "v1", scope: "private", input: text },
  origin: { transport: "test", identity: "user:1" },
  ...more,
});

async function events(value: Value): Promise<Value[]> {
  const client = connect().send(envelope(value));
  await client.closed;
  for (const frame of client.frames) {
    expect(frame).toMatchObject({ abi, payload: { direction: "event" } });
  }
  return client.frames.map(eventOf);
}

const told = (values: readonly Value[]) =>
  values.filter(({ type }) => type !== "delta").map(({ type, state }) => state ?? type);

beforeAll(async () => {
  await world.bootstrap();
  for (const agent of ["coder", "reviewer"]) {
    await world.run(["ctx", "set", `agent/${agent}.d/model`, "debug/script"]);
  }
  await world.run(["ctx", "set", "agent/coder.d/approval", "ask"]);
  await world.serve();
});
afterAll(() => world.destroy());

describe("interaction v1 on an agent's socket", () => {
  test("an input runs and is told in events; who sent it is recorded and told to nobody", async () => {
    const values = await events(input("v1-1", "@say hello", { event: { kind: "message" } }));
    expect(told(values)).toEqual(["accepted", "message", "started", "message", "done"]);
    const [accepted] = values;
    for (const value of values) {
      expect(value).toMatchObject({ request_id: "v1-1", run: accepted?.["run"] });
      expect(value).not.toHaveProperty("origin");
    }
    const deltas = values.filter(({ type }) => type === "delta").map(({ text }) => text);
    expect(deltas.join("")).toBe("hello");
    const records = world.events("v1").filter(({ type }) => type === "request.accepted");
    expect(records).toMatchObject([
      {
        request: "v1-1",
        origin: { transport: "test", identity: "user:1" },
        event: { kind: "message" },
      },
    ]);
  });

  test("shares its ids and sessions with op: each replays the other's, and neither runs twice", async () => {
    const op = { op: "send", session: "v1", input: "@say once" };
    const first = connect().send({ ...op, id: "both-1" });
    await first.closed;
    const run = first.frames[0]?.run;
    const again = await events(input("both-1", "@say once"));
    expect(told(again)).toEqual(["accepted", "message", "started", "message", "done"]);
    expect(again.every((value) => value["run"] === run)).toBe(true);

    const second = await events(input("both-2", "@say once"));
    const replay = connect().send({ ...op, id: "both-2" });
    await replay.closed;
    expect(replay.frames.map(({ type }) => type)).toEqual(["start", "message", "message", "done"]);
    expect(replay.frames[0]?.run).toBe(String(second[0]?.["run"]));

    const lines = world.events("v1").length;
    for (const other of [{ input: "@say twice" }, { event: {} }, { session: "v1-other" }]) {
      const [error, ...rest] = await events(input("both-1", "@say once", other));
      expect(error).toMatchObject({ type: "error", code: "EINVAL", retryable: false });
      expect(rest).toEqual([]);
    }
    expect(world.events("v1").length).toBe(lines);
  });

  test("an input that waits is accepted at once and started when its turn has come", async () => {
    const session = { session: "v1-queue" };
    const first = connect().send(envelope(input("q-1", "@delay 600\n@say first", session)));
    await first.until((frame) => typeOf(frame) === "started");
    const second = connect().send(envelope(input("q-2", "@say second", session)));
    await second.until((frame) => typeOf(frame) === "message");
    expect(first.frames.map(typeOf)).not.toContain("done");
    expect(second.frames.map(typeOf)).toEqual(["accepted", "message"]);
    await Promise.all([first.closed, second.closed]);
    expect(told(second.frames.map(eventOf))).toEqual([
      ...["accepted", "message", "started", "message", "done"],
    ]);
    const records = world.events("v1-queue").map(({ type, run }) => `${type} ${run}`);
    const run = eventOf(second.frames[0] as Frame)["run"];
    const ended = `run.done ${eventOf(first.frames[0] as Frame)["run"]}`;
    expect(records.indexOf(`run.start ${run}`)).toBeGreaterThan(records.indexOf(ended));
  });

  test("status, resume and cancel", async () => {
    const session = { session: "v1-cancel" };
    const client = connect().send(envelope(input("c-1", "@delay 30000", session)));
    const started = await client.until((frame) => typeOf(frame) === "started");
    const run = eventOf(started as Frame)["run"];
    const asked = { request_id: "s-1", ...session };
    expect(await events({ type: "status", ...asked })).toMatchObject([
      { type: "status", request_id: "s-1", status: "active", step: expect.any(Number) },
    ]);
    const follower = connect().send(envelope({ type: "resume", ...asked, after: 0 }));
    await follower.until((frame) => typeOf(frame) === "started");
    expect(await events({ type: "cancel", request_id: "x-1", run })).toEqual([
      { type: "done", request_id: "x-1", run, status: "cancelled" },
    ]);
    await Promise.all([client.closed, follower.closed]);
    expect(eventOf(client.frames.at(-1) as Frame)).toMatchObject({ status: "cancelled" });
    expect(told(follower.frames.map(eventOf))).toEqual([
      ...["accepted", "message", "started", "done"],
    ]);
    const rest = await events({ type: "resume", ...asked, after: "c-1" });
    expect(told(rest)).toEqual(["message", "started", "done"]);
  });
});

describe("a command of interaction v1", () => {
  const call = '@call shell.exec {"cmd":"echo ran"}\n@say fin';

  async function answered(id: string, result: Value, command?: string) {
    const client = connect().send(envelope(input(id, call, { session: "v1-command" })));
    const asked = await client.until((frame) => typeOf(frame) === "command");
    const value = eventOf(asked as Frame);
    const answer = { type: "command_result", request_id: `${id}-answer`, session: "v1-command" };
    const command_id = command ?? value["command_id"];
    client.send(envelope({ ...answer, command_id, result }));
    await client.closed;
    return { command: value, values: client.frames.map(eventOf) };
  }

  test("is answered on its own connection, and the call runs", async () => {
    const { command, values } = await answered("cmd-1", { type: "accepted" });
    expect(command).toMatchObject({
      request_id: "cmd-1",
      command: { type: "request_approval", tool: "shell.exec", arguments: { cmd: "echo ran" } },
    });
    expect(told(values).slice(-3)).toEqual(["ok", "message", "done"]);
  });

  test("that is rejected, or answered by a value or under another id, runs nothing", async () => {
    for (const [id, result, command] of [
      ["cmd-2", { type: "rejected", reason: "not on a Friday" }, undefined],
      ["cmd-3", { type: "value", payload: true }, undefined],
      ["cmd-4", { type: "accepted" }, "call-1"],
    ] as const) {
      const { values } = await answered(id, result, command);
      expect([id, told(values)]).toEqual([id, expect.arrayContaining(["error", "done"])]);
      expect([id, told(values).includes("ok")]).toEqual([id, false]);
    }
    const results = world.events("v1-command").filter(({ type }) => type === "tool.result");
    expect(JSON.stringify(results)).toContain("not on a Friday");
    expect(results.slice(1).every(({ status }) => status === "error")).toBe(true);
  });

  test("has no answer on another connection", async () => {
    const client = connect().send(envelope(input("cmd-5", call, { session: "v1-command" })));
    const asked = await client.until((frame) => typeOf(frame) === "command");
    const answer = { type: "command_result", request_id: "a-5", session: "v1-command" };
    const { command_id } = eventOf(asked as Frame);
    const alone = await events({ ...answer, command_id, result: { type: "accepted" } });
    expect(alone).toMatchObject([{ type: "error", request_id: "a-5", code: "EINVAL" }]);
    expect(client.frames.map(typeOf)).not.toContain("done");
    client.end();
  });
});
