// The throw-away systemd of the other tests leaves nothing on the machine, however they end.

import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { Booted, whyNoBoot } from "./booted.ts";

setDefaultTimeout(120_000);

const alone = new URL("./boot-alone.ts", import.meta.url).pathname;

/** Host pids of what runs in the PID namespace of the process. */
function company(leader: number): number[] {
  const space = namespaceOf(leader);
  const pids = readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name));
  return space === "" ? [] : pids.map(Number).filter((pid) => namespaceOf(pid) === space);
}

function namespaceOf(pid: number): string {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return /^NSpid:(?:\t\d+){3,}$/m.test(status) ? (readLink(`/proc/${pid}/ns/pid`) ?? "") : "";
  } catch {
    return "";
  }
}

function readLink(path: string): string | undefined {
  const done = Bun.spawnSync(["readlink", path]);
  return done.exitCode === 0 ? done.stdout.toString().trim() : undefined;
}

for (const signal of ["SIGINT", "SIGKILL"] as const) {
  test(`${signal} of the test that booted it ends all of it`, async () => {
    const why = whyNoBoot();
    if (why !== undefined) return console.log(`SKIP the end of a booted systemd: ${why}`);
    const child = Bun.spawn([process.execPath, alone], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" },
    });
    const reader = child.stdout.getReader();
    const said = new TextDecoder().decode((await reader.read()).value).trim();
    const leader = Number(said);
    if (!Number.isSafeInteger(leader)) {
      child.kill("SIGKILL");
      return console.log(`SKIP the end of a booted systemd: ${said}`);
    }
    const inside = company(leader);
    expect(inside.length).toBeGreaterThan(1);
    child.kill(signal);
    await child.exited;
    for (let look = 0; look < 250 && inside.some((pid) => existsSync(`/proc/${pid}`)); look += 1) {
      await Bun.sleep(20);
    }
    expect(inside.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
  });
}

test("the next boot removes what a killed one left on disk, and its own end leaves nothing", async () => {
  const why = whyNoBoot();
  if (why !== undefined) return console.log(`SKIP a booted systemd: ${why}`);
  const booted = await Booted.boot({ accounts: [], managers: [], folders: {} });
  if (typeof booted === "string") return console.log(`SKIP a booted systemd: ${booted}`);
  const folders = () => readdirSync("/tmp").filter((name) => /^ctx-boot-[0-9]+-/.test(name));
  const dead = (name: string) => !existsSync(`/proc/${name.split("-")[2]}`);
  expect(folders().filter(dead)).toEqual([]);
  await booted.end();
  expect(folders().filter((name) => name.startsWith(`ctx-boot-${process.pid}-`))).toEqual([]);
});
