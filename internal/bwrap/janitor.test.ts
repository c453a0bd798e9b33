// The one process that a kill can leave behind, and the two who end it: the janitor of the server that
// was killed, and the next server.

import { afterEach, describe, expect, test } from "bun:test";
import { processFacts } from "../os/mod.ts";
import { endOrphans } from "./orphans.ts";
import { hostProgram } from "./programs.ts";

const maker = new URL("../../testdata/sandbox/stuck-child.ts", import.meta.url).pathname;
const missing = hostProgram("bwrap") === undefined;
if (missing) console.log("SKIP stuck children: bubblewrap is not installed");

const waitMsMax = 20_000;

describe.skipIf(missing)("a bubblewrap child whose parent was killed before it woke it", () => {
  test("stays while the server lives, and is ended by the janitor when that is killed", async () => {
    const { server, pid } = await stuck();
    expect(isAlive(pid)).toBe(true);
    server.kill("SIGKILL");
    await server.exited;
    expect(await endsWithin(pid)).toBe(true);
  });

  test("is ended by endOrphans()", async () => {
    const { pid } = await stuck();
    expect(endOrphans()).toBeGreaterThanOrEqual(1);
    expect(await endsWithin(pid)).toBe(true);
  });
});

const servers: Bun.Subprocess[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.kill("SIGKILL");
    await server.exited;
  }
});

async function stuck() {
  const server = Bun.spawn([process.execPath, maker, `stuck-${process.pid}`], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  servers.push(server);
  const { value } = await server.stdout.getReader().read();
  return { server, pid: Number(new TextDecoder().decode(value)) };
}

function isAlive(pid: number): boolean {
  const state = processFacts(pid)?.state;
  return state !== undefined && state !== "Z";
}

async function endsWithin(pid: number): Promise<boolean> {
  const end = performance.now() + waitMsMax;
  while (isAlive(pid) && performance.now() < end) await Bun.sleep(10);
  return !isAlive(pid);
}
