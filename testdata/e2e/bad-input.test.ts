import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { RawClient } from "./raw-client.ts";
import { isRoot, World } from "./world.ts";

const world = new World();

beforeAll(async () => {
  await world.bootstrap();
  await world.run(["ctx", "set", "agent/coder.d/model", "debug/script"]);
  await world.serve();
});
afterAll(() => world.destroy());

function client(uid = world.uid): RawClient {
  return new RawClient(`${world.source}/agent/coder.sock`, uid);
}

function sessions(): string[] {
  return readdirSync(join(world.source, `home/${world.uid}/agent/coder/session`)).sort();
}

const before: { sessions: string[] } = { sessions: [] };
beforeAll(() => {
  before.sessions = sessions();
});

describe("a bad line on the agent socket is answered with its code and writes nothing", () => {
  afterEach(() => expect(sessions()).toEqual(before.sessions));

  async function refused(data: string | Uint8Array, half = false): Promise<unknown> {
    const peer = client().bytes(data);
    if (half) peer.socket.end();
    const error = await peer.until((frame) => frame.type === "error");
    await peer.closed;
    expect(peer.frames.length).toBe(1);
    return error?.["code"];
  }

  const send = (fields: object) =>
    `${JSON.stringify({ op: "send", id: "x", session: "bad", input: "hi", ...fields })}\n`;

  const names: [string, string][] = [
    ["empty", ""],
    ["a parent folder", ".."],
    ["65 characters", "a".repeat(65)],
    ["a socket's ending", "a.sock"],
    ["a control folder's ending", "a.d"],
    ["a newline", "a\nb"],
    ["a NUL", "a\0b"],
    ["a Cyrillic look-alike", "сoder"],
    ["full-width letters", "ｃｏｄｅｒ"],
    ["a slash", "a/b"],
    ["the reserved name", "index"],
    ["a leading dash", "-a"],
  ];
  for (const [what, session] of names) {
    test(`session name: ${what}`, async () => {
      expect(await refused(send({ session }))).toBe("EINVAL");
    });
  }

  test("a line of 1 MiB and one byte", async () => {
    const head = '{"op":"send","id":"x","session":"bad","input":"';
    const line = `${head}${"a".repeat(1024 * 1024 - head.length - 2)}"}\n`;
    expect(line.length).toBe(1024 * 1024 + 1);
    expect(await refused(line)).toBe("EMSGSIZE");
  });

  test("a line that never ends is refused once its bound is passed", async () => {
    expect(await refused("a".repeat(1024 * 1024 + 64))).toBe("EMSGSIZE");
  });

  test("invalid UTF-8", async () => {
    expect(await refused(new Uint8Array([0x7b, 0xc3, 0x28, 0x7d, 0x0a]))).toBe("EINVAL");
  });

  test("half a line, then close", async () => {
    expect(await refused('{"op":"send","id":"x","ses', true)).toBe("EINVAL");
  });

  test("no JSON, no object, no op", async () => {
    for (const line of ["hello\n", "[1]\n", "null\n", "{}\n", '{"op":1}\n']) {
      expect(await refused(line)).toBe("EINVAL");
    }
  });

  test("an unknown op", async () => {
    expect(await refused('{"op":"format","id":"x"}\n')).toBe("EINVAL");
  });

  test("an id that is empty, too long or holds a NUL", async () => {
    for (const id of ["", "a".repeat(257), "a\0"]) {
      expect(await refused(send({ id }))).toBe("EINVAL");
    }
  });

  test("a shared scope without a space, and an unknown scope", async () => {
    expect(await refused(send({ scope: "shared" }))).toBe("EINVAL");
    expect(await refused(send({ scope: "global" }))).toBe("EINVAL");
  });

  test("frames of v1 that say nothing, and of versions that are not served, in their own form", async () => {
    const answerTo = async (abi: string, rest: object) => {
      const peer = client().bytes(`${JSON.stringify({ abi, ...rest })}\n`);
      await peer.closed;
      expect(peer.frames.length).toBe(1);
      return peer.frames[0] as unknown;
    };
    const empty = { payload: { direction: "request", value: {} } };
    const v1 = { abi: "cortexfs.interaction/v1", payload: { direction: "event" } };
    expect(await answerTo("cortexfs.interaction/v1", empty)).toMatchObject({
      ...v1,
      payload: { value: { type: "error", code: "EINVAL" } },
    });
    const hello = { correlation: {}, event: { kind: "hello" } };
    expect(await answerTo("cortexfs.interaction/v2", hello)).toMatchObject({
      abi: "cortexfs.interaction/v2",
      event: { side: "slave", kind: "error", data: { code: "EINVAL" } },
    });
    expect(await answerTo("cortexfs.interaction/v9", empty)).toMatchObject({
      payload: { value: { type: "error", code: "unsupported_version" } },
    });
  });
});

describe("a peer that is not the owner", () => {
  test("is refused, whatever it asks", async () => {
    if (!isRoot) return console.log("SKIP: another uid needs root");
    const peer = client(0).send({ op: "send", id: "r", session: "bad", input: "hi" });
    expect(await peer.until((frame) => frame.type === "error")).toMatchObject({ code: "EACCES" });
    const ping = client(0).send({ op: "ping" });
    expect((await ping.until(() => true))?.type).toBe("pong");
  });
});

test("another user is told whose the agent is, and not to start a server", async () => {
  if (!isRoot) return console.log("SKIP: another uid needs root");
  const other = ["setpriv", "--reuid=63999", "--regid=63999", "--clear-groups"];
  const send = [join(world.dist, "ctx"), "agent", "send", "coder", "hi", "--no-workspace"];
  const child = Bun.spawn([...other, ...send], {
    env: { ...world.env, HOME: "/" },
    stdout: "pipe",
    stderr: "pipe",
  });
  const told = await new Response(child.stderr).text();
  expect([await child.exited, told]).toEqual([13, expect.stringContaining("[EACCES]")]);
  expect(told).not.toContain("ctxd serve");
});

describe("what a run is told to do wrongly ends in a coded result, not in an accident", () => {
  async function result(input: string, fields: object = {}) {
    const id = `r-${Math.random()}`;
    const peer = client().send({
      op: "send",
      id,
      session: "wrong",
      workspace: world.workspace,
      input,
      ...fields,
    });
    await peer.done();
    await peer.closed;
    return peer.frames;
  }

  test("an argument that breaks its schema starts nothing and names the field", async () => {
    const frames = await result('@call fs.read {"path":7}\n@say ok');
    const answer = frames.find((frame) => frame.type === "tool_result");
    expect(answer).toMatchObject({ status: "error", code: "EINVAL" });
    expect(answer?.["content"]).toContain("path");
  });

  test("a tool that does not exist", async () => {
    const frames = await result("@call fs.nothing {}\n@say ok");
    const answer = frames.find((frame) => frame.type === "tool_result");
    expect(answer?.["status"]).toBe("error");
  });
});

describe("folders that cannot be given refuse the request before anything is written", () => {
  afterEach(() => {
    const made = sessions().filter((name) => name !== "wrong");
    expect(made).toEqual(before.sessions.filter((name) => name !== "wrong"));
  });

  const cases: [string, object, string][] = [
    ["a working folder that climbs out", { cwd: "/workspace/../.." }, "EINVAL"],
    ["a working folder outside the view", { cwd: "/root" }, "EACCES"],
    ["a working folder that is missing", { cwd: "/workspace/none" }, "ENOENT"],
    ["a working folder that is a file", { cwd: "/workspace/file" }, "ENOENT"],
    ["a workspace that is missing", { workspace: "/nonexistent" }, "ENOENT"],
    ["a workspace that is relative", { workspace: "work" }, "EINVAL"],
    ["a workspace that holds the tree", { workspace: world.base }, "EACCES"],
    ["a workspace in the tree", { workspace: join(world.source, "tool") }, "EACCES"],
    ["the secrets as workspace", { workspace: join(world.base, "secrets") }, "EACCES"],
    ["the whole file system as workspace", { workspace: "/" }, "EACCES"],
    ["the host's /etc as workspace", { workspace: "/etc" }, "EACCES"],
  ];
  for (const [what, fields, code] of cases) {
    test(what, async () => {
      writeFileSync(join(world.workspace, "file"), "");
      const peer = client().send({
        ...{ op: "send", id: `folder-${what}`, session: "folders", workspace: world.workspace },
        input: "@say never",
        ...fields,
      });
      const error = await peer.until((frame) => frame.type === "error");
      await peer.closed;
      expect([error?.["code"], peer.frames.length]).toEqual([code, 1]);
    });
  }
});

describe("ctx", () => {
  test("refuses a wrong control with file, line and column and keeps the old value", async () => {
    const wrong: [string, string, string][] = [
      ["perm", "rwz", "EINVAL"],
      ["uid", "-1", "EINVAL"],
      ["groups", "0x10", "EINVAL"],
      ["label", "", "EINVAL"],
      ["window", "007", "EINVAL"],
      ["model", "a/b/c", "EINVAL"],
      ["cwd", "relative", "EINVAL"],
      ["root", "/../x", "EINVAL"],
      ["env", "CTX_AGENT=mallory", "EINVAL"],
      ["path", "tool", "EINVAL"],
      ["mount", "/a /b ro -", "EINVAL"],
      ["tools", "tsh", "EINVAL"],
      ["abi", "sdk-envelope-v2", "EINVAL"],
      ["approval", "maybe", "EINVAL"],
      ["policy", "allow coder_t tool:* execute", "EINVAL"],
      ["iso", "none", "EINVAL"],
      ["life", "eternal", "EINVAL"],
    ];
    for (const [name, text, code] of wrong) {
      const path = join(world.source, `agent/coder.d/${name}`);
      const old = existsSync(path) ? readFileSync(path, "utf8") : undefined;
      const done = await world.run(["ctx", "set", `agent/coder.d/${name}`, text]);
      expect([name, done.exit, done.stderr]).toEqual([name, 2, expect.stringContaining(code)]);
      expect(done.stderr).toContain(`coder.d/${name}`);
      expect(existsSync(path) ? readFileSync(path, "utf8") : undefined).toBe(old as string);
    }
  });

  test("names the program, the action, the subject, the reason and the code", async () => {
    const done = await world.run(["ctx", "agent", "send", "nobody", "hi"]);
    expect(done.exit).toBe(1);
    expect(done.stderr).toMatch(/^ctx: .*"nobody".*\[ENOENT\]\n/);
    expect(done.stderr).not.toContain("    at ");
  });

  test("refuses names by the grammar with exit status 2", async () => {
    for (const name of ["", "..", "a".repeat(65), "x.sock", "a\nb", "ｃtx"]) {
      const done = await world.run(["ctx", "agent", "send", name, "hi"]);
      expect([name, done.exit]).toEqual([name, 2]);
      expect(done.stderr).toContain("[EINVAL]");
    }
  });
});
