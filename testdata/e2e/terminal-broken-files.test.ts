// What an owner does to the files of a terminal that lives, and what is written into a receipt by hand:
// it is the owner's loss alone, never the server's or another process's.

import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { leftoversAfterGrace } from "./leftovers.ts";
import {
  ask,
  folderOf,
  listed,
  receiptOf,
  receiptPath,
  sh,
  start,
  stop,
  stopAll,
  until,
  wait,
} from "./terminal-start-world.ts";
import { isRoot, World } from "./world.ts";

const world = new World();
const slowMs = 60_000;
const isLong = process.env["CTX_LONG"] !== undefined;
const command = sh(wait);

beforeAll(async () => {
  await world.bootstrap();
  await world.serve();
}, slowMs);

afterAll(async () => {
  await stopAll(world);
  const left = await leftoversAfterGrace(world);
  await world.destroy();
  if (isRoot) expect(left).toEqual([]);
}, slowMs);

const breakages: Record<string, (socket: string, session: string) => void> = {
  "removes its session": (_, session) => {
    rmSync(world.sessionFolder(session), { recursive: true });
  },
  "puts a link in the place of its files": (_, session) => {
    rmSync(join(folderOf(world, session), ".."), { recursive: true });
    symlinkSync("/tmp", join(folderOf(world, session), ".."));
  },
  "puts a file in the place of its socket": (socket) => {
    unlinkSync(socket);
    writeFileSync(socket, "");
    if (isRoot) chownSync(socket, world.uid, world.uid);
  },
  "puts folders in the place of its small files": (_, session) => {
    for (const name of ["state", "meta.json", "cwd", "status"]) {
      rmSync(join(folderOf(world, session), name), { force: true });
      mkdirSync(join(folderOf(world, session), name));
    }
  },
};

test.each(Object.keys(breakages).map((what, at) => [what, `broken-${at}`] as const))(
  "an owner who %s can stop it, loses it to a kill, and the server serves on",
  async (what, session) => {
    const breakIt = breakages[what] as (typeof breakages)[string];
    for (const end of ["stop", "kill"]) {
      const { socket } = await start(world, { session, command });
      const { launch } = receiptOf(world, session);
      breakIt(socket, session);
      expect(await listed(world)).toMatchObject([{ state: "ready" }]);
      if (end === "stop") expect(await stop(world, session)).toMatchObject({ socket });
      else process.kill(launch?.pid as number, "SIGKILL");
      await until("its receipt is gone", () => !existsSync(receiptPath(world, session)));
      expect(await listed(world)).toEqual([]);
      rmSync(world.sessionFolder(session), { recursive: true, force: true });
      rmSync(socket, { force: true });
    }
  },
  slowMs,
);

test(
  "a receipt with another's processes, folder or name ends and removes nothing of theirs",
  async () => {
    await start(world, { session: "edited", command });
    const receipt = receiptOf(world, "edited");
    const path = receiptPath(world, "edited");
    const innocent = Bun.spawn(["sleep", "605"]);
    const precious = join(world.base, "precious");
    mkdirSync(precious);
    try {
      const stat = readFileSync(`/proc/${innocent.pid}/stat`, "utf8");
      const startTime = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
      const stamp = { pid: innocent.pid, startTime };
      const edits = [
        { launch: stamp, root: stamp, init: stamp },
        { control: precious },
        ...(isLong ? [{ root: stamp, init: stamp }, { generation: "f".repeat(32) }] : []),
      ];
      for (const edit of edits) {
        await world.stop("SIGKILL");
        writeFileSync(path, JSON.stringify({ ...receipt, ...edit }));
        await world.serve();
        await stop(world, "edited");
        expect([innocent.exitCode, innocent.signalCode]).toEqual([null, null]);
        expect(existsSync(precious)).toBe(true);
        rmSync(path, { force: true });
      }
    } finally {
      innocent.kill("SIGKILL");
      for (const name of ["launch", "root"]) {
        const pid = receipt[name]?.pid as number;
        if (existsSync(`/proc/${pid}`)) process.kill(pid, "SIGKILL");
      }
    }
  },
  slowMs,
);

test(
  "a recording that cannot be kept is named, with what is in its way, and nothing is started",
  async () => {
    await start(world, { session: "recorded", command });
    await stop(world, "recorded");
    const path = join(folderOf(world, "recorded"), "events.jsonl");
    rmSync(path);
    Bun.spawnSync(["mkfifo", path]);
    if (isRoot) chownSync(path, world.uid, world.uid);
    const [answer] = await ask(world, { op: "start", session: "recorded" });
    const message = `cannot record to "${path}": it is no regular file; move it away`;
    expect(answer).toMatchObject({ type: "error", code: "EEXIST", message });
    expect(await listed(world)).toEqual([]);
    expect(await stop(world, "recorded")).toMatchObject({ state: "exited" });
  },
  slowMs,
);
