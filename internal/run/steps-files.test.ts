// What a run of steps reads from the files: whether the program may be started, and what changes
// between two calls of one run.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import type { StepRequest } from "../launch/mod.ts";
import { printing, saying } from "./fake-launcher.ts";
import { calling, ProgramWorld } from "./program-world.ts";

const world = new ProgramWorld();
const { launcher, program } = world;

beforeEach(() => world.reset());
afterAll(() => world.close());

const send = (input = "go", change = {}) => world.send(input, "prog", change);

describe("what may be started", () => {
  const refused = async (code: string, text: string) => {
    const { outcome } = await send();
    expect(outcome).toMatchObject({ status: "error", code });
    expect(outcome.status === "error" && outcome.message).toContain(text);
    expect(launcher.steps).toEqual([]);
  };

  test("not a file without any x", async () => {
    chmodSync(program, 0o644);
    await refused("EACCES", "is not an executable file");
  });

  test("not a file that the agent's uid may not execute", async () => {
    chmodSync(program, 0o700);
    if (process.getuid?.() !== 0) return console.log("SKIP: needs a file of another uid");
    await refused("EACCES", "needs x to execute it");
  });

  test("not below a mount with noexec", async () => {
    world.write("agent/prog.d/mount", "/srv/x\t/ctx/agent\tro\tnoexec\n");
    await refused("EACCES", "which is mounted noexec");
  });

  test("not as another uid than the one that may write the identity", async () => {
    if (process.getuid?.() !== 0) return console.log("SKIP: only root could become another uid");
    world.write("agent/prog.d/uid", "0\n");
    await refused("EACCES", "uid is 0");
  });

  test("not with a window that the model does not allow; told the one that it does", async () => {
    world.model("debug/known", "debug.echo");
    world.write("model/debug/known.d/limit", "1000\n");
    world.write("agent/prog.d/model", "debug/known\n");
    await send();
    expect(launcher.steps[0]?.window).toEqual({ tokens: 1000, chars: 4000 });
    world.write("agent/prog.d/window", "400\n");
    await send();
    expect(launcher.steps[1]?.window).toEqual({ tokens: 400, chars: 1600 });
    launcher.reset();
    world.write("agent/prog.d/window", "2000\n");
    await refused("EINVAL", "its maximum is 1000");
  });
});

describe("between two calls of one run", () => {
  /** The same call twice; `between` happens before the second. Gives the codes of both results. */
  async function codes(between: () => void, name = "fs.write", args = { path: "a", content: "" }) {
    launcher.program = (request: StepRequest, io) => {
      if (request.step === 1) between();
      const frame = request.step < 2 ? calling(`c${request.step}`, name, args) : saying("so");
      return printing(frame)(request, io);
    };
    const { outcome, context } = await send();
    expect(outcome).toEqual({ status: "ok" });
    return context.outcomes().map(({ status, code }) => code ?? status);
  }

  test("perm takes effect", async () => {
    expect(await codes(() => world.write("agent/prog.d/perm", "r-x\n"))).toEqual(["ok", "EACCES"]);
  });

  test("the agent's policy takes effect", async () => {
    expect(await codes(() => world.write("agent/prog.d/policy", ""))).toEqual(["ok", "EACCES"]);
  });

  test("the tool's policy takes effect", async () => {
    expect(await codes(() => world.write("tool/fs.write.d/policy", ""))).toEqual(["ok", "EACCES"]);
  });

  test("the path takes effect", async () => {
    const other = () => world.write("agent/prog.d/path", "/ctx/shared/none/tool\n");
    const [first, second] = await codes(other);
    expect([first, ["ENOENT", "EACCES"].includes(second as string)]).toEqual(["ok", true]);
  });

  test("a mount takes effect", async () => {
    const noexec = "/srv/x\t/ctx/tool\tro\tnoexec\n";
    expect(await codes(() => world.write("agent/prog.d/mount", noexec))).toEqual(["ok", "EACCES"]);
  });

  test("the tool's file takes effect", async () => {
    const tool = join(world.source, "tool/fs.write");
    const [first, second] = await codes(() => chmodSync(tool, 0o644));
    chmodSync(tool, 0o755);
    expect([first, ["ENOENT", "EACCES"].includes(second as string)]).toEqual(["ok", true]);
  });

  test("the list of declared tools takes effect", async () => {
    expect(await codes(() => world.write("agent/prog.d/tools", ""))).toEqual(["ok", "EACCES"]);
  });

  test("the program's own file takes effect: the run ends before it is started", async () => {
    launcher.program = async (request, io) => {
      chmodSync(program, 0o644);
      return printing(calling("c1"))(request, io);
    };
    const { outcome, context } = await send();
    expect(outcome).toMatchObject({ status: "error", code: "EACCES" });
    // The call is decided from the files too, and the agent is none any more.
    expect([launcher.steps.length, context.records]).toEqual([1, []]);
  });
});
