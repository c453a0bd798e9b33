import { afterEach, describe, expect, test } from "bun:test";
import { processFacts } from "../os/mod.ts";
import { createBuiltinSupervisor } from "./mod.ts";
import { goneWithin, signalStamp } from "./processes.ts";

const own = {
  uid: process.geteuid?.() ?? 0,
  gid: process.getegid?.() ?? 0,
  groups: [],
  unit: "u",
  description: "d",
  limits: {},
};
const generation = "0".repeat(32);
const supervisor = createBuiltinSupervisor();
const started: number[] = [];

async function launch(...argv: string[]) {
  const { pid = 0 } = await supervisor.start({ ...own, argv });
  started.push(pid);
  const facts = processFacts(pid);
  if (facts === undefined) throw new Error("it is gone already");
  return { launch: { pid, startTime: facts.startTime }, owner: own.uid, generation };
}

afterEach(() => {
  for (const pid of started.splice(0)) {
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // It is gone.
    }
  }
});

describe("the built-in supervisor", () => {
  test("starts a launch in a session of its own", async () => {
    const receipt = await launch("/bin/sleep", "600");
    const stat = await Bun.file(`/proc/${receipt.launch.pid}/stat`).text();
    const session = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[3]);
    expect(session).toBe(receipt.launch.pid);
    expect(await supervisor.alive(receipt)).toBe(true);
    await supervisor.stop(receipt);
    expect(await supervisor.alive(receipt)).toBe(false);
  });

  test("gives a launch nothing but PATH", async () => {
    // Told by itself: from outside it could be read before the program is there.
    const command = "tr '\\0' '\\n' < /proc/$$/environ >&2; exit 3";
    const { ended } = await supervisor.start({ ...own, argv: ["/bin/sh", "-c", command] });
    expect(await ended).toMatch(/^PATH=[^\n]*$/);
  });

  test("tells the last words of one that ended", async () => {
    const { ended } = await supervisor.start({
      ...own,
      argv: ["/bin/sh", "-c", "echo because >&2; exit 3"],
    });
    expect(await ended).toBe("because");
  });

  test("kills what does not end when it is asked", async () => {
    const receipt = await launch("/bin/sh", "-c", "trap '' TERM; while :; do sleep 600; done");
    await supervisor.stop(receipt);
    expect(processFacts(receipt.launch.pid)?.state ?? "Z").toBe("Z");
  }, 15_000);

  test("touches nothing that has a pid of the receipt and another start time", async () => {
    const { launch: stamp, ...rest } = await launch("/bin/sleep", "600");
    const other = { pid: stamp.pid, startTime: "1" };
    const stale = { ...rest, launch: other, root: other, init: other };
    expect(await supervisor.alive(stale)).toBe(false);
    await supervisor.stop(stale);
    expect(signalStamp(other, 9)).toBe(false);
    expect(await goneWithin([stamp], 100)).toBe(false);
  });
});
