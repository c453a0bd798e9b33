// A terminal from `start` to `stop` over the agent's socket, by the compiled programs: what is in it,
// who may outlive whom, and what is left of it.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { leftoversAfterGrace } from "./leftovers.ts";
import {
  ask,
  fileOf,
  folderOf,
  listed,
  mark,
  PlainClient,
  receiptPath,
  recordsOf,
  sh,
  shown,
  sleepers,
  start,
  stop,
  stopAll,
  until,
  wait,
} from "./terminal-start-world.ts";
import { isRoot, World } from "./world.ts";

const world = new World();
const slowMs = 30_000;

beforeAll(async () => {
  await world.bootstrap();
  mkdirSync(join(world.workspace, ".git/hooks"), { recursive: true });
  writeFileSync(join(world.workspace, ".git/config"), "[core]\n");
  if (isRoot) Bun.spawnSync(["chown", "-R", `${world.uid}`, world.workspace]);
  await world.serve();
}, slowMs);

afterAll(async () => {
  await stopAll(world);
  const left = await leftoversAfterGrace(world);
  await world.destroy();
  // The server's own processes are root's, so that every one of the uid is a leftover.
  if (isRoot) expect(left).toEqual([]);
}, slowMs);

const workspace = () => `${world.workspace} /workspace rw`;

describe("a terminal that was started", () => {
  const script = [
    "/usr/bin/env -0 | /usr/bin/tr '\\0' ';' | /usr/bin/sed 's/.*/<env=&>/'",
    'echo; echo "<cwd=$(/bin/pwd)>"',
    'echo "<tty=$(/usr/bin/tty)>"',
    "echo no > .git/config || echo '<git=refused>'",
    "echo kept > /workspace/made; echo shell > $HOME/.history",
    "echo no > $HOME/session/mine || echo '<session=refused>'",
    "echo \"<run=$(/bin/ls /run /run/cortexfs | /usr/bin/tr '\\n' ' ')>\"",
    `${wait}`,
  ].join("\n");

  test(
    "is ready, answers on its socket from outside, and says where it is",
    async () => {
      const facts = await start(world, { mounts: [workspace()], command: sh(script) });
      expect(facts).toMatchObject({
        id: "terminal-coder-default",
        state: "ready",
        cwd: "/workspace",
        workspace: world.workspace,
        folder: folderOf(world),
      });
      expect(readlinkSync(facts.alias)).toBe(facts.socket);
      const socket = lstatSync(facts.socket);
      expect([socket.isSocket(), socket.uid, socket.mode & 0o777]).toEqual([
        true,
        world.uid,
        0o600,
      ]);
      const watcher = new PlainClient(world, "watch");
      await until("the screen", () => watcher.text.includes("<run="));
      watcher.end();
      expect(await listed(world)).toEqual([facts]);
    },
    slowMs,
  );

  test("has exactly this environment", async () => {
    const pairs = (await mark(world, "env")).split(";").filter(Boolean).sort();
    expect(pairs).toEqual(
      [
        "CTX_AGENT=coder",
        "CTX_AGENT_SUBJECT=coder_t",
        "CTX_CONTROL_SOCKET=/run/cortexfs/control.sock",
        `CTX_HOME=/ctx/home/${world.uid}`,
        `CTX_PATH=/ctx/tool:/ctx/home/${world.uid}/tool`,
        "CTX_ROOT=/ctx",
        "HOME=/home/agent",
        "LANG=C.UTF-8",
        "LOGNAME=coder",
        // By bubblewrap, always.
        "PWD=/workspace",
        "SHELL=/bin/sh",
        "TERM=xterm-256color",
        "USER=coder",
      ].sort(),
    );
  });

  test("sees the workspace with its .git read-only, its home, and no history to write", async () => {
    expect(await mark(world, "cwd")).toBe("/workspace");
    expect(await mark(world, "tty")).toMatch(/^\/dev\/pts\/\d+$/);
    expect(await mark(world, "git")).toBe("refused");
    expect(await mark(world, "session")).toBe("refused");
    expect((await mark(world, "run")).split(/\s+/)).toContain("cortexfs");
    expect(readFileSync(join(world.workspace, "made"), "utf8")).toBe("kept\n");
    const home = join(world.source, `home/${world.uid}/agent/coder`);
    expect(readFileSync(join(home, ".history"), "utf8")).toBe("shell\n");
    expect(readdirSync(world.workspace).sort()).toEqual([".git", "made"]);
  });

  test("has its files, which belong to the owner alone", () => {
    expect(readdirSync(folderOf(world)).sort()).toEqual(
      ["cwd", "events.jsonl", "meta.json", "owner", "state"].sort(),
    );
    for (const name of readdirSync(folderOf(world))) {
      const facts = lstatSync(join(folderOf(world), name));
      expect([name, facts.uid, facts.mode & 0o777]).toEqual([name, world.uid, 0o600]);
    }
    expect([fileOf(world, "state"), fileOf(world, "cwd"), fileOf(world, "owner")]).toEqual([
      ...["ready", "/workspace", `${world.uid}`],
    ]);
    expect(JSON.parse(fileOf(world, "meta.json") ?? "")).toMatchObject({
      id: "terminal-coder-default",
      command: sh(script),
      workspace: world.workspace,
      ended_at: null,
    });
  });

  test("is answered by every other start, also by two at once", async () => {
    const [first] = await listed(world);
    const more = await Promise.all([start(world), start(world, { command: sh("false") })]);
    expect(more).toEqual([first, first] as never);
    // A busy machine may not have come to it yet.
    await until("its program", () => sleepers(world, "600").length > 0);
    expect(sleepers(world, "600")).toHaveLength(1);
  });

  test("ends when it is asked, and what is over stays to be read", async () => {
    const ended = await stop(world);
    expect(ended).toMatchObject({ state: "exited", ended_at: expect.any(String) });
    expect(ended.status).toBeGreaterThan(128);
    expect(await listed(world)).toEqual([]);
    expect(sleepers(world, "600")).toEqual([]);
    expect(existsSync(receiptPath(world, "default"))).toBe(false);
    expect(lstatSync(ended.alias, { throwIfNoEntry: false })).toBeUndefined();
    expect([fileOf(world, "state"), fileOf(world, "status")]).toEqual([
      "exited",
      `${ended.status}`,
    ]);
    expect(shown(world)).toContain("<cwd=/workspace>");
    const records = recordsOf(world);
    expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1));
    expect(records.at(-1)).toMatchObject({ type: "process.exit", status: ended.status });
    expect(await stop(world)).toEqual(ended);
  });
});

test(
  "two starts at the same moment give one terminal",
  async () => {
    const wanted = { session: "twice", command: sh(wait) };
    const [one, two, three] = await Promise.all([1, 2, 3].map(() => start(world, wanted)));
    expect([two, three]).toEqual([one, one] as never);
    expect(sleepers(world, "600")).toHaveLength(1);
    await stop(world, "twice");
  },
  slowMs,
);

test(
  "a stop takes along what was forked twice and what hears no signal but the last",
  async () => {
    const daemon = "(/usr/bin/setsid /usr/bin/sleep 601 & )";
    const deaf =
      "(trap '' TERM HUP; /usr/bin/setsid /bin/sh -c 'while :; do /usr/bin/sleep 602; done' & )";
    await start(world, { session: "daemons", command: sh(`${daemon}; ${deaf}; ${wait}`) });
    await until("the daemons", () => sleepers(world, "60[0-2]").length === 3);
    await stop(world, "daemons");
    expect(sleepers(world, "60[0-2]")).toEqual([]);
  },
  slowMs,
);

test.each([
  ["exit 0", 0, undefined],
  ["exit 7", 7, undefined],
  ["kill -KILL $$", 137, 9],
  ["kill -TERM $$", 143, 15],
] as const)(
  "after %j its status is %d by every path",
  async (script, status, signal) => {
    const session = `end-${status}`;
    await start(world, { session, command: sh(script) });
    await until("its end", () => fileOf(world, "state", session) === "exited");
    expect(fileOf(world, "status", session)).toBe(`${status}`);
    const last = recordsOf(world, session).at(-1);
    expect([last?.type, last?.status, last?.signal]).toEqual(["process.exit", status, signal]);
    await until("the server's word", () => !existsSync(receiptPath(world, session)));
    const told = await stop(world, session);
    expect([told.state, told.status, told.signal]).toEqual(["exited", status, signal]);
  },
  slowMs,
);

test(
  "the longest names have a terminal",
  async () => {
    const session = "s".repeat(64);
    const facts = await start(world, { session, command: sh(`echo '<here=1>'; ${wait}`) });
    expect(facts.id).toBe(`terminal-coder-${session}`);
    const watcher = new PlainClient(world, "watch", session);
    await until("the screen", () => watcher.text.includes("<here=1>"));
    watcher.end();
    expect(await stop(world, session)).toMatchObject({ state: "exited" });
  },
  slowMs,
);

describe("a start that fails names the cause and leaves nothing:", () => {
  const denied = "/etc /data ro";
  test.each([
    [{ mounts: [denied] }, "EACCES", `"/etc"`],
    [{ mounts: ["/nowhere /data ro"] }, "ENOENT", `"/nowhere" does not exist`],
    [{ mounts: ["data /data ro"] }, "EINVAL", "its source"],
    [{ mounts: ["/data"] }, "EINVAL", "SOURCE TARGET ro|rw"],
    [{ cwd: "/nowhere" }, "EACCES", `folder "/nowhere" lies outside`],
    [{ cwd: "/home/agent/none" }, "ENOENT", `folder "/home/agent/none" does not exist`],
    [{ command: [] }, "EINVAL", "is empty"],
    [{ session: "no/name" }, "EINVAL", "no/name"],
  ] as const)("%j", async (wanted, code, words) => {
    const frames = await ask(world, { op: "start", session: "none", ...wanted });
    expect(frames).toEqual([expect.objectContaining({ type: "error", code })]);
    expect(frames[0]?.["message"]).toContain(words);
    expect(existsSync(world.sessionFolder("none"))).toBe(false);
    expect(existsSync(receiptPath(world, "none"))).toBe(false);
  });

  test("a session without a terminal cannot be stopped", async () => {
    const frames = await ask(world, { op: "stop", session: "none" });
    expect(frames).toEqual([expect.objectContaining({ type: "error", code: "ENOENT" })]);
  });
});

test(
  "a user has at most eight terminals",
  async () => {
    const names = Array.from({ length: 8 }, (_, number) => `many-${number}`);
    await Promise.all(names.map((session) => start(world, { session, command: sh(wait) })));
    const ninth = await ask(world, { op: "start", session: "many-8", command: sh(wait) });
    expect(ninth).toEqual([expect.objectContaining({ type: "error", code: "busy" })]);
    expect((await listed(world)).map(({ id }) => id).sort()).toEqual(
      names.map((name) => `terminal-coder-${name}`),
    );
    await Promise.all(names.map((session) => stop(world, session)));
    expect(sleepers(world, "600")).toEqual([]);
  },
  slowMs,
);
