import { describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { processFacts } from "../os/mod.ts";
import { chooseSupervisor } from "./choose.ts";
import { findManager, managerPlace } from "./manager.ts";
import { parseShow, unitFacts } from "./show.ts";
import { createSystemd, isOwned } from "./supervisor.ts";

const invocation = "ab".repeat(16);
const generation = "cd".repeat(16);

const shown = `Id=x-${generation}.service
LoadState=loaded
ActiveState=active
InvocationID=${invocation}
MainPID=42
ControlGroup=/user.slice/a=b
`;

describe("systemctl show", () => {
  test("is read as the first unit's properties, values with = and all", () => {
    expect(parseShow(`${shown}\nId=other.service\n`)).toEqual({
      Id: `x-${generation}.service`,
      LoadState: "loaded",
      ActiveState: "active",
      InvocationID: invocation,
      MainPID: "42",
      ControlGroup: "/user.slice/a=b",
    });
    expect(parseShow("")).toEqual({});
  });

  test("tells of a unit whether it lives, whose it is and where", () => {
    expect(unitFacts(parseShow(shown))).toEqual({
      name: `x-${generation}.service`,
      active: true,
      invocation,
      pid: 42,
      group: "/user.slice/a=b",
    });
    const states = ["activating", "deactivating", "reloading", "inactive", "failed", ""];
    const active = states.map((state) => unitFacts({ LoadState: "loaded", ActiveState: state }));
    expect(active.map((facts) => facts?.active)).toEqual([true, true, true, false, false, false]);
    // What is not there, or has no main process, has no number that could be signalled.
    expect(unitFacts({ LoadState: "not-found", ActiveState: "inactive" })).toBeUndefined();
    expect(unitFacts({})).toBeUndefined();
    for (const MainPID of ["0", "1", "-1", "x"]) {
      expect(unitFacts({ LoadState: "loaded", MainPID })?.pid).toBeUndefined();
    }
  });
});

test("a unit is a receipt's by its invocation, and by its name when there is none yet", () => {
  const facts = unitFacts(parseShow(shown));
  if (facts === undefined) throw new Error("no facts");
  expect(isOwned({ generation: "e".repeat(32), invocation }, facts)).toBe(true);
  expect(isOwned({ generation, invocation: "e".repeat(32) }, facts)).toBe(false);
  expect(isOwned({ generation }, facts)).toBe(true);
  expect(isOwned({ generation: "e".repeat(32) }, facts)).toBe(false);
  expect(isOwned({ generation, invocation }, { ...facts, invocation: undefined })).toBe(false);
});

test("systemd supervises where it answers, and the built-in supervisor everywhere else", () => {
  expect(chooseSupervisor({ ok: true, version: "252" })).toEqual({
    name: "systemd",
    because: "systemd 252 answers",
  });
  expect(chooseSupervisor({ ok: false, reason: "XDG_RUNTIME_DIR is not set" })).toEqual({
    name: "builtin",
    because: "XDG_RUNTIME_DIR is not set",
  });
});

describe("a manager", () => {
  test("is the system's for root, and a user's where the environment says", () => {
    expect(managerPlace(0, { XDG_RUNTIME_DIR: "/run/user/0" })).toEqual({
      ...{ scope: "system", socket: "/run/systemd/private", uid: 0, env: {} },
    });
    const bus = "unix:path=/run/user/7/bus";
    const env = { XDG_RUNTIME_DIR: "/run/user/7", HOME: "/home/x", DBUS_SESSION_BUS_ADDRESS: bus };
    expect(managerPlace(7, env)).toEqual({
      ...{ scope: "user", socket: "/run/user/7/systemd/private", uid: 7 },
      env: { XDG_RUNTIME_DIR: "/run/user/7", DBUS_SESSION_BUS_ADDRESS: bus },
    });
    for (const odd of [{}, { XDG_RUNTIME_DIR: "" }, { XDG_RUNTIME_DIR: "run" }]) {
      expect(managerPlace(7, odd)).toBe("XDG_RUNTIME_DIR is not set");
    }
  });

  test("is not there without a socket, behind a file, or behind a socket that nobody serves", async () => {
    const folder = mkdtempSync("/tmp/ctx-systemd-");
    const uid = process.getuid?.() || 4242;
    const ask = async () => {
      const found = await findManager(uid, { XDG_RUNTIME_DIR: folder });
      return found.ok ? "found" : found.reason;
    };
    const socket = join(folder, "systemd/private");
    try {
      expect(await ask()).toBe("no systemd user manager runs here");
      mkdirSync(join(folder, "systemd"));
      await Bun.write(socket, "");
      expect(await ask()).toBe(`"${socket}" is not uid ${uid}'s socket`);
      rmSync(socket);
      if (uid !== 4242) return console.log("SKIP a socket of another uid: needs root");
      const listener = Bun.listen({ unix: socket, socket: { data() {} } });
      expect(await ask()).toBe(`"${socket}" is not uid ${uid}'s socket`);
      listener.stop(true);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

test("a receipt's processes are found and handed on to be ended when no manager knows its unit", async () => {
  const child = Bun.spawn(["sleep", "60"]);
  const ended: string[] = [];
  const systemd = createSystemd({
    uid: 4242,
    env: { XDG_RUNTIME_DIR: "/nonexistent" },
    orphans: async (receipt: { generation: string }) => {
      ended.push(receipt.generation);
      child.kill("SIGKILL");
      await child.exited;
    },
  });
  const launch = processFacts(child.pid);
  if (launch === undefined) throw new Error("no process");
  const receipt = { unit: `x-${generation}.service`, invocation, generation, launch };
  const stranger = { ...receipt, launch: { pid: child.pid, startTime: "1" } };
  expect([await systemd.usable(4242), await systemd.usable(1)]).toEqual([false, false]);
  expect([await systemd.alive(receipt), await systemd.alive(stranger)]).toEqual([true, false]);
  await systemd.stop(stranger);
  expect(ended).toEqual([]);
  await systemd.stop(receipt);
  expect(ended).toEqual([generation]);
  expect(await systemd.alive(receipt)).toBe(false);
  await expect(systemd.start({} as never)).rejects.toThrow(/no systemd manager/);
});
