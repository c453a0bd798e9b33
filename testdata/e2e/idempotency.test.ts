import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { RawClient } from "./raw-client.ts";
import { World } from "./world.ts";

const world = new World();

function socket(): string {
  return `${world.source}/agent/coder.sock`;
}

function ask(request: unknown): RawClient {
  return new RawClient(socket(), world.uid).send(request);
}

beforeAll(async () => {
  await world.bootstrap();
  await world.run(["ctx", "set", "agent/coder.d/model", "debug/script"]);
  await world.serve();
});
afterAll(() => world.destroy());

describe("a request id", () => {
  const slow = {
    op: "send",
    id: "slow-1",
    session: "ids",
    workspace: world.workspace,
    input:
      '@call shell.exec {"cmd":"echo once >> /workspace/count; sleep 0.6; echo ran"}\n@say fin',
  };

  test("sent again while it runs joins the same run and runs nothing twice", async () => {
    const first = ask(slow);
    const started = await first.until((frame) => frame.type === "tool_call");
    const second = ask(slow);
    const [a, b] = await Promise.all([first.done(), second.done()]);
    expect(a).toMatchObject({ type: "done", status: "ok", run: started?.run });
    expect(b).toEqual(a);
    const durable = (client: RawClient) => client.frames.filter((frame) => frame.seq !== undefined);
    expect(durable(second)).toEqual(durable(first));
    expect(await Bun.file(`${world.workspace}/count`).text()).toBe("once\n");
  });

  test("sent again after a restart replays the recorded frames and executes nothing", async () => {
    const before = ask(slow);
    await before.done();
    const lines = world.events("ids").length;
    expect(await world.stop()).toBe(0);
    await world.serve();
    const after = ask(slow);
    await after.done();
    expect(after.frames).toEqual(before.frames);
    expect(world.events("ids").length).toBe(lines);
    expect(await Bun.file(`${world.workspace}/count`).text()).toBe("once\n");
  });

  test("is refused under another payload, session or folder, with nothing written", async () => {
    const lines = world.events("ids").length;
    for (const change of [{ input: "@say other" }, { session: "elsewhere" }, { cwd: "/tmp" }]) {
      const client = ask({ ...slow, ...change });
      const error = await client.until((frame) => frame.type === "error");
      expect(error).toMatchObject({ code: "request_conflict" });
      await client.closed;
      expect(client.frames.filter((frame) => frame.type === "start")).toEqual([]);
    }
    expect(world.events("ids").length).toBe(lines);
    const elsewhere = `${world.sessionFolder("elsewhere")}/events.jsonl`;
    expect(await Bun.file(elsewhere).exists()).toBe(false);
  });
});
