// The folder of a run's capability socket and the models of a view, as a tool and a step find them.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, chownSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { systemAgentUid } from "../../testdata/sandbox/configurations.ts";
import {
  commandRequest,
  installProgram,
  launcherOf,
  makeScene,
  type Scene,
  stepRequest,
} from "../../testdata/sandbox/scene.ts";
import type { Launcher, LaunchRequest } from "./types.ts";

const python = "/usr/bin/python3";
const missing =
  process.getuid?.() !== 0
    ? "needs root to become the agent"
    : existsSync(python)
      ? undefined
      : `there is no ${python}`;
if (missing !== undefined) console.log(`SKIP capability folders: ${missing}`);

const ask = `
import os, socket
place = os.environ["CTX_CONTROL_SOCKET"]
peer = socket.socket(socket.AF_UNIX)
peer.connect(place)
peer.sendall(b"hello")
print(place, peer.recv(100).decode())
for name in ["/run/cortexfs/new", place]:
    try:
        socket.socket(socket.AF_UNIX).bind(name) if name.endswith("new") else os.unlink(name)
        print("changed", name)
    except OSError as error:
        print(os.strerror(error.errno))
`;

const answered = "/run/cortexfs/control.sock you said hello\n";

let scene: Scene;
let launcher: Launcher;
let control: string;
let server: ReturnType<typeof Bun.listen>;

beforeAll(() => {
  if (missing !== undefined) return;
  scene = makeScene({ agentUid: systemAgentUid, serverUid: 0 });
  launcher = launcherOf(scene);
  control = join(scene.base, "control");
  mkdirSync(control);
  chmodSync(control, 0o711);
  const unix = join(control, "control.sock");
  server = Bun.listen({
    unix,
    socket: { data: (socket, bytes) => void socket.write(`you said ${bytes.toString()}`) },
  });
  chmodSync(unix, 0o600);
  chownSync(unix, scene.agentUid, scene.agentUid);
});
afterAll(async () => {
  if (missing !== undefined) return;
  server.stop(true);
  await launcher.close();
  rmSync(scene.base, { recursive: true, force: true });
});

async function command(cmd: string | string[], change: Partial<LaunchRequest> = {}) {
  const io = { signal: new AbortController().signal, onOutput: () => undefined };
  return (await launcher.run(commandRequest(scene, { cmd }, change), io)).output;
}

async function stepOutput(text: string, change: Parameters<typeof stepRequest>[1]) {
  installProgram(scene, text);
  let output = "";
  const { message } = await launcher.step(stepRequest(scene, change), {
    signal: new AbortController().signal,
    onStdout(bytes) {
      output += new TextDecoder().decode(bytes);
    },
  });
  await launcher.discard(stepRequest(scene, change));
  return message ?? output;
}

/** The folder can be read like no other place: what is in it cannot be replaced. */
const unchanged =
  /you said hello\n(Permission denied|Read-only file system)\n(Read-only file system|Permission denied)\n/;

describe.skipIf(missing !== undefined)("the folder of a capability socket", () => {
  test("is reached from a tool and from a step, and changed from neither", async () => {
    const tool = await command([python, "-c", ask], { control });
    expect(tool).toStartWith(answered);
    expect(tool).toMatch(unchanged);
    const step = await stepOutput(`#!${python}\n${ask}`, { control });
    expect(step).toStartWith(answered);
    expect(step).toMatch(unchanged);
  });

  test("is not there without one, and neither is its variable", async () => {
    expect(await command("ls -A /run; env | grep CONTROL; true")).toBe("[exit 0]\n");
    expect(await stepOutput("#!/bin/sh\nls -A /run; env | grep CONTROL\n", {})).toBe("");
  });

  test("that is missing refuses the launch", async () => {
    const gone = join(scene.base, "gone");
    expect(await command("true", { control: gone })).toContain(`there is no "${gone}"`);
  });

  test("is part of what a prepared sandbox is compared by", async () => {
    const request = (change: Partial<LaunchRequest> = {}) =>
      commandRequest(scene, { cmd: "readlink /proc/1/ns/pid" }, { control, ...change });
    const prepared = async () => {
      launcher.prepare(request());
      while (launcher.live().length === 0) await Bun.sleep(1);
      return launcher.live()[0]?.root.pid;
    };
    const roots: (number | undefined)[] = [];
    const run = (of: LaunchRequest) =>
      launcher.run(
        { ...of, args: { cmd: "echo up; sleep 0.05" } },
        {
          signal: new AbortController().signal,
          onOutput: () => roots.push(launcher.live().at(-1)?.root.pid),
        },
      );
    const first = await prepared();
    await run(request({ run: "ctx-later" }));
    expect(roots.at(-1)).toBe(first as number);
    const second = await prepared();
    await run(request({ control: undefined }));
    expect(roots.at(-1)).not.toBe(second as number);
    const third = await prepared();
    renameSync(control, `${control}.old`);
    mkdirSync(control);
    await run(request());
    rmSync(control, { recursive: true });
    renameSync(`${control}.old`, control);
    expect(roots.at(-1)).not.toBe(third as number);
    await launcher.discard(request());
  });
});

describe.skipIf(missing !== undefined)("the models of a view", () => {
  const models = ["debug/echo", "openai/gpt-5.1"].map((name) => ({
    viewPath: `/ctx/model/${name}`,
    hostPath: join("/nonexistent", name),
  }));

  test("are executable files for the runner, and no others are there", async () => {
    const cmd =
      "cd /ctx/model; for f in */*; do [ -x $f ] && head -3 $f; done; find -type f | wc -l";
    expect(await command(cmd, { models })).toBe(
      models
        .map(({ viewPath }) => viewPath.slice("/ctx/model/".length))
        .map((name) => `#!/ctx/bin/ctx exec\n# class: model\n# name: ${name}\n`)
        .concat("2\n[exit 0]\n")
        .join(""),
    );
    expect(await command("ls /ctx")).not.toContain("model");
  });
});
