// The program as a process: started by a client, by two at once, killed, started again, stopped by
// signals. It runs from source here; the compiled one is tested end to end elsewhere.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { askAgent, askControl, ensureServer } from "../../internal/client/mod.ts";
import type { OpFrame } from "../../internal/interaction/mod.ts";
import { supplementaryGroups } from "../../internal/os/mod.ts";
import { bootstrap, type Places, resolvePlaces, treeRuntime } from "../../internal/tree/mod.ts";

const uid = process.getuid?.() ?? 0;
const gid = process.getgid?.() ?? 0;
const main = resolve(import.meta.dir, "main.ts");

let base: string;
let env: Record<string, string>;
let places: Places;
let ctxdBinary: string;
const children = new Set<number>();

beforeEach(() => {
  base = mkdtempSync("/tmp/cortexfs-ctxd-");
  const programs = join(base, "programs");
  for (const name of ["programs", "config", "secrets", "home"]) {
    mkdirSync(join(base, name), { mode: 0o700 });
  }
  for (const name of ["ctx", "tsh", "ctxterm", "ctxmcp", "ctxd"]) {
    writeFileSync(join(programs, name), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  }
  ctxdBinary = join(base, "ctxd");
  writeFileSync(ctxdBinary, `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`);
  chmodSync(ctxdBinary, 0o755);
  const source = join(base, "tree");
  // A server that is not root can drop none of its groups, so its agents have them all.
  const groups = supplementaryGroups();
  bootstrap({ source, owner: { uid, gid }, groups, binaries: programs });
  // An agent of uid 0 runs only where the host says so.
  if (uid === 0) writeFileSync(join(base, "config/ctxd.conf"), "root_agents=allow\n");
  env = {
    PATH: "/usr/bin:/bin",
    HOME: join(base, "home"),
    CTX_RUNTIME_DIR: join(base, "run"),
    CTX_CONFIG_DIR: join(base, "config"),
    CTX_SECRETS_DIR: join(base, "secrets"),
    OPENAI_API_KEY: "sk-not-for-the-server",
  };
  places = resolvePlaces({ source, env, uid });
});

afterEach(async () => {
  await pidOfServer().then(
    (pid) => children.add(pid),
    () => {},
  );
  for (const pid of children) if (existsSync(`/proc/${pid}`)) process.kill(pid, "SIGKILL");
  children.clear();
  rmSync(base, { recursive: true, force: true });
});

async function pidOfServer(): Promise<number> {
  return (await askControl(places, "ping")).pid;
}

async function send(id: string, input = "hello"): Promise<OpFrame[]> {
  const frames: OpFrame[] = [];
  for await (const frame of askAgent(places, "coder", {
    op: "send",
    id,
    session: "default",
    scope: { kind: "private" },
    input,
    cwd: undefined,
    workspace: undefined,
  })) {
    frames.push(frame);
  }
  return frames;
}

/** Runs ctxd until it ends. */
async function run(...args: string[]) {
  const child = Bun.spawn([ctxdBinary, ...args], { env, stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, exit] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { stdout, stderr, exit };
}

async function ended(pid: number): Promise<void> {
  while (existsSync(`/proc/${pid}`) && !isZombie(pid)) await new Promise(setImmediate);
}

function isZombie(pid: number): boolean {
  try {
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return true;
  }
}

describe("ensureServer()", () => {
  test("with noStart names the missing server and starts none", async () => {
    const attempt = ensureServer(places, { ctxdBinary, env, noStart: true });
    expect(attempt).rejects.toMatchObject({
      code: "EHOSTDOWN",
      hint: expect.stringContaining("ctxd serve"),
    });
    await attempt.catch(() => {});
    expect(existsSync(treeRuntime(places))).toBe(false);
  });

  test("starts one server for three clients at once, with nothing of their secrets", async () => {
    await Promise.all([1, 2, 3].map(() => ensureServer(places, { ctxdBinary, env })));
    const pid = await pidOfServer();
    expect(readFileSync(`/proc/${pid}/environ`, "utf8")).not.toContain("sk-not-for-the-server");
    expect(readlinkSync(`/proc/${pid}/cwd`)).toBe("/");
    const log = readFileSync(join(treeRuntime(places), "ctxd.log"), "utf8");
    expect(log.match(/"event":"ready"/g)).toHaveLength(1);
    expect((await send("r1")).at(-1)).toMatchObject({ type: "done", status: "ok" });
  });

  test("gives what the server says when it cannot start", async () => {
    writeFileSync(join(places.config, "ctxd.conf"), "colour=red\n");
    const attempt = ensureServer(places, { ctxdBinary, env });
    expect(attempt).rejects.toMatchObject({
      code: "EINVAL",
      message: expect.stringContaining("colour"),
    });
    await attempt.catch(() => {});
  });

  test("names a program that is missing or ends without a word", async () => {
    const missing = ensureServer(places, { ctxdBinary: join(base, "none"), env });
    expect(missing).rejects.toMatchObject({ code: "ENOENT" });
    await missing.catch(() => {});
    const silent = ensureServer(places, { ctxdBinary: "/bin/true", env });
    expect(silent).rejects.toMatchObject({
      code: "EHOSTDOWN",
      hint: expect.stringContaining("ctxd.log"),
    });
    await silent.catch(() => {});
  });
});

describe("ctxd serve", () => {
  test("killed with SIGKILL it leaves stale sockets that the next one replaces", async () => {
    await ensureServer(places, { ctxdBinary, env });
    const first = await pidOfServer();
    const before = await send("r1");
    process.kill(first, "SIGKILL");
    await ended(first);
    expect(existsSync(join(treeRuntime(places), "agent/coder.sock"))).toBe(true);
    await ensureServer(places, { ctxdBinary, env });
    expect(await pidOfServer()).not.toBe(first);
    const durable = (frames: OpFrame[]) => frames.filter((frame) => "seq" in frame);
    expect(durable(before).at(-1)).toMatchObject({ type: "done", status: "ok" });
    expect(await send("r1")).toEqual(durable(before));
  });

  test("a second server for the tree ends with 69 and names the first", async () => {
    await ensureServer(places, { ctxdBinary, env });
    const { exit, stderr } = await run("serve", "--source", places.source);
    expect(exit).toBe(69);
    expect(stderr).toContain(`pid ${await pidOfServer()}`);
    expect(stderr).toContain("[session_locked]");
  });

  test.each(["SIGTERM", "SIGINT"] as const)(
    "ends with 0 on %s and leaves no socket",
    async (signal) => {
      const child = Bun.spawn([ctxdBinary, "serve", "--source", places.source], {
        env: { ...env, CTXD_READY_FD: "3" },
        stdio: ["ignore", "ignore", "ignore", "pipe"],
      });
      children.add(child.pid);
      const ready = await new Response(
        Bun.file(child.stdio[3] as unknown as number).stream(),
      ).json();
      expect(ready).toEqual({ ok: true, pid: child.pid });
      child.kill(signal);
      expect(await child.exited).toBe(0);
      expect(readdirSync(treeRuntime(places)).filter((name) => name.endsWith(".sock"))).toEqual([]);
      expect(
        readdirSync(join(places.source, "agent")).filter((name) => name.endsWith(".sock")),
      ).toEqual([]);
    },
  );

  test("a run that SIGTERM cuts ends as interrupted, for its client and in its log", async () => {
    const controls = join(places.source, "agent/coder.d");
    writeFileSync(join(controls, "model"), "debug/script\n");
    appendFileSync(join(controls, "policy"), "allow coder_t model:debug/script use\n");
    await ensureServer(places, { ctxdBinary, env });
    const pid = await pidOfServer();
    const running = send("r1", "@delay 60000\n@say never");
    const events = join(places.source, `home/${uid}/agent/coder/session/default/events.jsonl`);
    while (!existsSync(events) || !readFileSync(events, "utf8").includes(`"run.start"`)) {
      await new Promise(setImmediate);
    }
    const started = performance.now();
    process.kill(pid, "SIGTERM");
    expect((await running).at(-1)).toMatchObject({ type: "done", status: "interrupted" });
    await ended(pid);
    expect(performance.now() - started).toBeLessThan(5000);
    const last = readFileSync(events, "utf8").trimEnd().split("\n").at(-1) ?? "";
    expect(JSON.parse(last)).toMatchObject({ type: "run.done", status: "interrupted" });
  });

  test("a server that does not answer is ETIMEDOUT with its pid, and status says so", async () => {
    await ensureServer(places, { ctxdBinary, env });
    const pid = await pidOfServer();
    process.kill(pid, "SIGSTOP");
    const scope = { kind: "private" } as const;
    const request = { op: "status", session: "default", scope } as const;
    const asked = askAgent(places, "coder", request, { answerMs: 100 }).next();
    await expect(asked).rejects.toMatchObject({
      code: "ETIMEDOUT",
      hint: expect.stringContaining(`pid ${pid}`),
    });
    const ctx = resolve(import.meta.dir, "../ctx/main.ts");
    const argv = [process.execPath, ctx, "status", "--source", places.source];
    const { stdout } = Bun.spawnSync(argv, { env, stdout: "pipe" });
    expect(stdout.toString()).toContain("not answering");
    process.kill(pid, "SIGCONT");
  });

  test("SIGHUP serves an agent that was made since", async () => {
    await ensureServer(places, { ctxdBinary, env });
    const folder = join(places.source, "agent");
    await Bun.$`cp -a ${folder}/coder ${folder}/late && cp -a ${folder}/coder.d ${folder}/late.d`;
    process.kill(await pidOfServer(), "SIGHUP");
    for (;;) {
      const reply = await askControl(places, "ping");
      if (reply.type === "pong" && reply.agents.includes("late")) break;
    }
    expect(existsSync(join(folder, "late.sock"))).toBe(true);
  });

  test.each([
    [["serve", "--set", "model_steps=0"], 2, "model_steps"],
    [["serve", "--set"], 2, "KEY=VALUE"],
    [["serve", "--colour"], 2, "--colour"],
    [["serve", "/some/tree"], 2, "takes no argument"],
    [["serve", "--source", "/nonexistent"], 1, "ctx bootstrap"],
    [["mount"], 2, "cannot mount"],
    [["fly"], 2, "unknown command"],
    [[], 2, "missing"],
  ] as const)("%j ends with %d and says why", async (args, status, reason) => {
    const { exit, stderr } = await run(...args);
    expect(exit).toBe(status);
    expect(stderr).toContain(reason);
  });

  test("--version and --help print and end with 0", async () => {
    expect(await run("--version")).toMatchObject({
      exit: 0,
      stdout: expect.stringMatching(/^ctxd [0-9]/),
    });
    expect((await run("serve", "--help")).stdout).toContain("Examples:");
  });
});
