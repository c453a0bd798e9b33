// The kit where the capability socket of a run is: inside that run's sandbox, started by a call of an
// agent that may do this alone. What it left behind is looked at from outside.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { descendants } from "../../internal/os/mod.ts";
import { World } from "./world.ts";

const world = new World();
const kit = "/ctx/bin/ctx abi conformance --abi control --socket /run/cortexfs/control.sock";
/** The whole kit in one call, on a machine that does other things too. */
const playMs = 120_000;

interface Point {
  readonly talk?: string;
  readonly ok?: boolean;
}

beforeAll(async () => {
  await world.bootstrap();
  const may = ["--perm", "rwx", "--tools", "shell.exec,agent.update", "--model", "debug/script"];
  const made = await world.run(["ctx", "agent", "new", "kit", ...may]);
  expect(made.exit).toBe(0);
  for (const tool of ["shell.exec", "agent.update"]) {
    const line = `allow kit_t tool:${tool} execute`;
    const done = await world.run(["ctx", "append", `tool/${tool}.d/policy`, line]);
    expect(done.exit).toBe(0);
  }
  await world.serve();
});
afterAll(() => world.destroy());

/** Plays in the sandbox of a run of its own; its output is the call's result. */
async function play(session: string, more: string): Promise<string> {
  const cmd = `${kit} ${more} > "/home/agent/$CTX_SESSION"; cat "/home/agent/$CTX_SESSION"`;
  const script = `@call shell.exec ${JSON.stringify({ cmd })}\n@result`;
  const send = ["ctx", "agent", "send", "kit", "--session", session, "--no-workspace", script];
  const { exit, stdout } = await world.run(send, { ms: playMs });
  expect(exit).toBe(0);
  return stdout;
}

const promptOf = async (control: string) =>
  (await world.run(["ctx", "cat", `agent/kit.d/${control}`])).stdout;

test(
  "every talk of control/v1 goes as written inside a real sandbox",
  async () => {
    const names = readdirSync(join(import.meta.dir, "../../abi/control/v1/talk"));
    const authority = ["policy", "perm", "tools", "model", "approval"];
    const before = await Promise.all(authority.map(promptOf));
    const printed = await play("all", "--json");
    const lines = printed.split("\n").filter((line) => line.startsWith("{"));
    const points = lines.map((line) => JSON.parse(line) as Point & Record<string, unknown>);
    const summary = points.pop();
    expect(points.filter(({ ok }) => ok !== true)).toEqual([]);
    expect(summary).toEqual({ passed: names.length, failed: 0, todo: 0, skipped: 0 });
    expect(points.map(({ talk }) => `${talk?.replace("control/", "")}.jsonl`).sort()).toEqual(
      names.toSorted(),
    );
    // The prompt is what was said to the agent last; nothing that has authority changed.
    expect(await promptOf("system.md")).toBe("You play conversations.\n");
    expect(await promptOf("prompt.template.md")).toContain("{{agent_instructions}}");
    expect(await Promise.all(authority.map(promptOf))).toEqual(before);
  },
  playMs,
);

test(
  "each run has ids of its own: the same talks pass again in the session's next run",
  async () => {
    for (const name of ["update-repeated", "update-failed-consumes", "pipelined"]) {
      const printed = await play("again", `--only ${name}`);
      expect(printed).toContain(`ok 1 - control/${name}\n# 1 passed, 0 failed, 0 todo, 0 skipped`);
    }
  },
  playMs,
);

/** Clock ticks since boot, as /proc counts them. */
const ticks = () => Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]) * 100;

test(
  "the sandbox that stands after a run serves the first call of a new session, under its own names",
  async () => {
    const cmd =
      "cut -d' ' -f22 /proc/1/stat; echo $CTX_SESSION $CTX_RUN_ID; " +
      "[ -S $CTX_CONTROL_SOCKET ] && echo socket";
    const asked = async (session: string) => {
      const begun = ticks();
      const script = `@call shell.exec ${JSON.stringify({ cmd })}\n@result`;
      const send = ["ctx", "agent", "send", "kit", "--session", session, "--no-workspace", script];
      const { stdout } = await world.run(send);
      const [started, names, socket] = stdout.split("\n");
      return { early: Number(started) < begun, names: names?.split(" ") ?? [], socket };
    };
    const first = await asked("stands-1");
    // bubblewrap twice, the gate and the runner; and the clock moves past their start.
    while (descendants(world.serverPid).length < 4) await Bun.sleep(10);
    await Bun.sleep(50);
    const second = await asked("stands-2");
    expect(second).toMatchObject({ early: true, socket: "socket" });
    expect([first.names[0], second.names[0]]).toEqual(["stands-1", "stands-2"]);
    expect(second.names[1]).toMatch(/^ctx-/);
    expect(second.names[1]).not.toBe(first.names[1]);
  },
  playMs,
);

test("outside of a run's sandbox the kit says where it belongs", async () => {
  const socket = join(world.source, "agent/kit.sock");
  const env = { CTX_AGENT: "kit", CTX_SESSION: "default" };
  const words = ["ctx", "abi", "conformance", "--abi", "control", "--socket", socket];
  const { exit, stdout, stderr } = await world.run(words, { env });
  expect([exit, stdout]).toEqual([2, ""]);
  expect(stderr).toContain("CTX_RUN_ID is not set");
  expect(stderr).toContain("sandbox");
});
