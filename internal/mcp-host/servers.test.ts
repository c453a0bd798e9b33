import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import type { LaunchIo } from "../launch/mod.ts";
import { writeServerSecret } from "../secret/mod.ts";
import { callRequest, FakeLauncher, type FakePeer } from "./fake-service.ts";
import { serverRestartsMax } from "./mod.ts";
import { Servers } from "./servers.ts";

const digest = "a".repeat(64);
let base: string;
let secrets: { secrets: string; uid: number };
let servers: Servers;

beforeEach(() => {
  base = mkdtempSync("/tmp/ctx-mcp-host-");
  secrets = { secrets: `${base}/secrets`, uid: process.getuid?.() ?? 0 };
});
afterEach(async () => {
  await servers.close();
  rmSync(base, { recursive: true, force: true });
});

function started(serve: (peer: FakePeer) => Promise<void>): FakeLauncher {
  const fake = new FakeLauncher(serve);
  const { launcher } = fake;
  servers = new Servers({ tree: {} as never, launcher, secrets }, () => digest);
  return fake;
}

const io = (change: Partial<LaunchIo> = {}): LaunchIo => ({
  signal: new AbortController().signal,
  onOutput() {},
  ...change,
});

/** Answers every call with its own arguments. */
async function echo(peer: FakePeer): Promise<void> {
  await peer.open();
  for (let frame = await peer.next(); frame !== undefined; frame = await peer.next()) {
    if (frame.kind !== "call") continue;
    peer.say({ kind: "text", id: frame.id, text: JSON.stringify(frame.args) });
    peer.say({ kind: "result", id: frame.id, status: "ok" });
  }
}

describe("a run's server", () => {
  test("is opened at the first call and serves the next ones", async () => {
    const fake = started(echo);
    for (const n of [1, 2, 3]) {
      const outcome = await servers.call(callRequest({ args: { n } }), io());
      expect(outcome).toMatchObject({ status: "ok", output: `{"n":${n}}`, dropped: 0 });
    }
    expect(fake.started.length).toBe(1);
    expect(fake.started[0]?.program).toEqual(["/ctx/bin/ctxmcp", "serve-tool"]);
    expect(fake.started[0]).not.toHaveProperty("control");
  });

  test("is told where it is described, what was installed, and the call's limits", async () => {
    const seen: unknown[] = [];
    started(async (peer) => {
      seen.push(...(await peer.open()), await peer.next());
      peer.say({ kind: "result", id: 1, status: "ok" });
    });
    await servers.call(callRequest(), io());
    expect(seen).toEqual([
      {
        ...{ kind: "open", config: "/workspace/.mcp.json", server: "memory" },
        ...{ root: "/workspace", start_ms: 60_000 },
      },
      { kind: "start", values: {} },
      {
        ...{ kind: "call", id: 1, tool: "add", args: { n: 1 }, definition: digest },
        ...{ idle_ms: 5000, total_ms: 50_000 },
      },
    ]);
  });

  test("is the same one for all of its tools", async () => {
    const tools: unknown[] = [];
    const fake = started(async (peer) => {
      await peer.open();
      for (let frame = await peer.next(); frame?.kind === "call"; frame = await peer.next()) {
        tools.push(frame.tool);
        peer.say({ kind: "result", id: frame.id, status: "ok" });
      }
    });
    const request = callRequest();
    const { mcp } = request.tool;
    const other = { ...request.tool, mcp: { ...mcp, tool: "remove" } as typeof mcp };
    await servers.call(request, io());
    await servers.call({ ...request, tool: other }, io());
    expect([tools, fake.started.length]).toEqual([["add", "remove"], 1]);
  });

  test("is never another run's, and ends with its own", async () => {
    const fake = started(echo);
    await Promise.all(["run-1", "run-2"].map((run) => servers.call(callRequest({ run }), io())));
    expect(fake.started.map(({ run }) => run).sort()).toEqual(["run-1", "run-2"]);
    await servers.over("run-1");
    const [one, two] = fake.peers;
    const first = fake.started[0]?.run === "run-1" ? one : two;
    expect(fake.peers.map((peer) => peer.ended)).toEqual(fake.peers.map((peer) => peer === first));
  });

  test("is another one when the agent would see something else", async () => {
    const fake = started(echo);
    await servers.call(callRequest(), io());
    await servers.call(callRequest({ workspace: "/srv/other" }), io());
    expect(fake.started.length).toBe(2);
    expect(fake.peers[0]?.ended).toBe(true);
  });

  test("serves calls at once, each with its own text, progress and bytes", async () => {
    started(async (peer) => {
      await peer.open();
      await peer.next();
      await peer.next();
      peer.say({ kind: "text", id: 2, text: "two" }, { kind: "text", id: 1, text: "one" });
      peer.say({ kind: "progress", id: 1, text: "half" });
      const bytes = (text: string) => Buffer.from(text).toString("base64");
      peer.say({ kind: "keep", id: 2, index: 0, data: bytes("abc") });
      peer.say({ kind: "keep", id: 2, index: 0, data: bytes("def") });
      peer.say({ kind: "result", id: 2, status: "error" }, { kind: "result", id: 1, status: "ok" });
    });
    const said: string[] = [];
    const [one, two] = await Promise.all([
      servers.call(callRequest(), io({ onOutput: (text) => said.push(text) })),
      servers.call(callRequest(), io()),
    ]);
    expect([one.output, two.output, said]).toEqual(["one", "two", ["half"]]);
    expect([one.status, two.status]).toEqual(["ok", "error"]);
    expect(two.kept.map((one) => Buffer.from(one).toString())).toEqual(["abcdef"]);
  });

  test("that dies fails its pending calls at once and is started twice more, no more", async () => {
    const fake = started(async (peer) => {
      await peer.open();
      await peer.next();
      peer.die();
    });
    for (let time = 0; time <= serverRestartsMax; time += 1) {
      const outcome = await servers.call(callRequest(), io());
      expect(outcome).toMatchObject({ status: "error", code: "EIO" });
      expect(outcome.output).toContain("ended");
    }
    const outcome = await servers.call(callRequest(), io());
    expect(outcome.output).toContain("was started 3 times in this run");
    expect(fake.started.length).toBe(1 + serverRestartsMax);
    expect(await servers.call(callRequest({ run: "run-2" }), io())).toMatchObject({ code: "EIO" });
    expect(fake.started.length).toBe(2 + serverRestartsMax);
  });

  test("that says it is over with a result is not asked again, and loses no other call", async () => {
    const fake = started(async (peer) => {
      await peer.open();
      const first = await peer.next();
      if (first?.kind !== "call") return;
      if (fake.started.length > 1) {
        peer.say({ kind: "result", id: first.id, status: "ok" });
        return;
      }
      await peer.next();
      peer.say({ kind: "result", id: first.id, status: "error", code: "EIO", over: true });
    });
    const calls = [servers.call(callRequest(), io()), servers.call(callRequest(), io())];
    expect(await calls[0]).toMatchObject({ code: "EIO" });
    expect(await servers.call(callRequest(), io())).toMatchObject({ status: "ok" });
    expect(await calls[1]).toMatchObject({ status: "error" });
    expect(fake.started.length).toBe(2);
  });

  test("is told of a cancel, whose call has its outcome at once", async () => {
    const cancel = new AbortController();
    const seen = Promise.withResolvers<unknown>();
    started(async (peer) => {
      await peer.open();
      await peer.next();
      cancel.abort();
      seen.resolve(await peer.next());
    });
    const outcome = await servers.call(callRequest(), io({ signal: cancel.signal }));
    expect(outcome).toMatchObject({ status: "error", code: "ECANCELED" });
    expect(await seen.promise).toEqual({ kind: "cancel", id: 1 });
  });

  test("goes on being opened for the others when whoever asked first leaves", async () => {
    const first = new AbortController();
    const gate = Promise.withResolvers<void>();
    const fake = started(async (peer) => {
      await gate.promise;
      await echo(peer);
    });
    const left = servers.call(callRequest(), io({ signal: first.signal }));
    const stayed = servers.call(callRequest({ args: { n: 2 } }), io());
    first.abort();
    expect(await left).toMatchObject({ code: "ECANCELED" });
    gate.resolve();
    expect(await stayed).toMatchObject({ status: "ok", output: '{"n":2}' });
    expect(fake.started.length).toBe(1);
  });

  test("that says what is no line of the wire is ended", async () => {
    for (const line of ["\n", "{}\n", '{"kind":"ready"}\n', '{"kind":"text","id":0,"text":""}\n']) {
      const fake = started(async (peer) => {
        await peer.open();
        await peer.next();
        peer.raw(line);
      });
      const outcome = await servers.call(callRequest(), io());
      expect([line, outcome.code]).toEqual([line, "EIO"]);
      expect(fake.peers[0]?.ended).toBe(true);
      await servers.close();
    }
  });

  test("is not started for a call that was on its way when the run ended", async () => {
    const fake = started(echo);
    const signal = AbortSignal.abort();
    await servers.over("run-1");
    expect(await servers.call(callRequest(), io({ signal }))).toMatchObject({ code: "ECANCELED" });
    expect(fake.started.length).toBe(0);
  });

  test("that cannot be opened says why, and nothing of it stays", async () => {
    const fake = started(async (peer) => {
      await peer.next();
      peer.say({ kind: "failed", code: "ENOENT", message: "no such file" });
    });
    const outcome = await servers.call(callRequest(), io());
    expect(outcome).toMatchObject({ code: "ENOENT", output: "no such file" });
    expect(fake.peers[0]?.ended).toBe(true);
  });
});

describe("secrets", () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the configuration that has variables.
  const entry = { TOKEN: "${TOKEN}" };

  async function opening(env: Record<string, string>, variables?: Parameters<FakePeer["open"]>[1]) {
    const seen: unknown[] = [];
    started(async (peer) => {
      const [, start] = await peer.open(env, variables);
      seen.push(start);
      const call = await peer.next();
      if (call?.kind === "call") peer.say({ kind: "result", id: call.id, status: "ok" });
    });
    const outcome = await servers.call(callRequest(), io());
    await servers.close();
    return { outcome, start: seen[0] };
  }

  test("come from the store alone, for the names that the entry has", async () => {
    process.env["TOKEN"] = "from the environment";
    try {
      expect((await opening(entry)).outcome).toMatchObject({ code: "EINVAL" });
    } finally {
      delete process.env["TOKEN"];
    }
    writeServerSecret(secrets, "memory", "TOKEN", "s3cret");
    writeServerSecret(secrets, "memory", "OTHER", "not asked for");
    writeServerSecret(secrets, "github", "TOKEN", "another server's");
    expect((await opening(entry)).start).toEqual({ kind: "start", values: { TOKEN: "s3cret" } });
  });

  test("are not given to an entry that was changed since, until one is set again", async () => {
    writeServerSecret(secrets, "memory", "TOKEN", "s3cret");
    expect((await opening(entry)).outcome.status).toBe("ok");
    const changed = { ...entry, LD_PRELOAD: "/workspace/spy.so" };
    const { outcome, start } = await opening(changed);
    expect(outcome).toMatchObject({ status: "error", code: "EACCES" });
    expect([outcome.output.includes("s3cret"), start]).toEqual([false, undefined]);
    expect((await opening(entry)).outcome.status).toBe("ok");
    writeServerSecret(secrets, "memory", "TOKEN", "s3cret");
    expect((await opening(changed)).outcome.status).toBe("ok");
    expect((await opening(entry)).outcome.code).toBe("EACCES");
  });

  test("stand in the environment alone", async () => {
    writeServerSecret(secrets, "memory", "TOKEN", "s3cret");
    const inArguments = { name: "TOKEN", field: "args[0]", optional: true };
    const { outcome } = await opening({}, [inArguments]);
    expect(outcome).toMatchObject({ status: "error", code: "EINVAL" });
    expect(outcome.output).toContain("args[0]");
    const unset = await opening({}, [{ name: "NOT_SET", field: "args[0]", optional: true }]);
    expect(unset.outcome.status).toBe("ok");
  });
});
