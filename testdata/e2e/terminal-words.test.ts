// What a person says in a terminal about the tools that its session has loaded, by the compiled programs:
// it reaches the next prompt, waits for what runs, is given up, and is nobody else's to say.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  chownSync,
  closeSync,
  constants,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { leftoversAfterGrace } from "./leftovers.ts";
import { giveLoopModel, loadedIn } from "./loop-model.ts";
import { asUid, RawClient } from "./raw-client.ts";
import { plain, sh, tsh } from "./terminal-calls-world.ts";
import { PlainClient, receiptPath, start, stopAll, until } from "./terminal-start-world.ts";
import { isRoot, World } from "./world.ts";

setDefaultTimeout(60_000);

const world = new World();
const home = join(world.source, "home", String(world.uid), "agent/coder");
let server: Awaited<ReturnType<typeof giveLoopModel>>;
let person: PlainClient;
let ids = 0;

/** What waits for a next run is gone soon, so that it is no leftover. */
const settings = ["--set", "session_idle_ms=500"];

beforeAll(async () => {
  await world.bootstrap();
  server = await giveLoopModel(world);
  await world.run(["ctx", "set", "agent/coder.d/tools", "shell.exec\n"]);
  await world.serve(settings);
  await start(world);
  person = new PlainClient(world, "attach");
  await seen(/coder:~> /);
});

afterAll(async () => {
  person?.end();
  await stopAll(world);
  const left = await leftoversAfterGrace(world);
  await world.destroy();
  await server.stop();
  if (isRoot) expect(left).toEqual([]);
});

/** What came since the last look that led to something. */
let from = 0;

async function seen(what: RegExp): Promise<RegExpExecArray> {
  const look = () => what.exec(person.text.slice(from)) ?? false;
  const found = await until(`${what}`, look).catch((error: unknown) => {
    throw new Error(`${error}; there is ${JSON.stringify(person.text.slice(from).slice(-2000))}`);
  });
  from += found.index + found[0].length;
  return found;
}

/** Types a line and gives what its command printed and its status. */
async function typed(line: string): Promise<{ output: string; status: number }> {
  person.type(`${line}\r`);
  const [, output = "", status] = await seen(
    /\x1b\]133;C;[^\x07]*\x07([\s\S]*?)\x1b\]133;D;(\d+)\x07/,
  );
  await seen(/coder:~> /);
  // Behind a program its terminal is put right.
  const sober = output.replaceAll("\x1b[0m\x1b(B\x0f\x1b[?25h", "");
  return { output: plain(sober), status: Number(status) };
}

function send(...directives: string[]): RawClient {
  ids += 1;
  const input = [...directives, "@say done"].join("\n");
  const client = new RawClient(join(world.source, "agent/coder.sock"), world.uid);
  return client.send({ op: "send", id: `m-${ids}`, session: "default", input });
}

/** What the next run of the session has before it. */
async function loadedNext(): Promise<string[]> {
  const before = server.requests.length;
  expect(await send().done()).toMatchObject({ status: "ok" });
  return loadedIn(`${server.requests[before]?.body.messages?.[0]?.content}`);
}

const gate = join(home, "go");
/** A call with a sandbox of its own that ends when the gate opens: the terminal is free meanwhile. */
const behindGate = `@call shell.exec ${JSON.stringify({ cmd: "until [ -e go ]; do sleep 0.05; done" })}`;

function openGate(): void {
  writeFileSync(gate, "");
  if (isRoot) chownSync(gate, world.uid, world.uid);
}

async function behind(...directives: string[]): Promise<RawClient> {
  rmSync(gate, { force: true });
  const run = send(behindGate, ...directives);
  await run.until(({ type }) => type === "tool_call");
  return run;
}

const results = (run: RawClient) =>
  run.frames.filter(({ type }) => type === "tool_result").map(({ content }) => content);

/** The words that the session was told, as it recorded them. */
const told = () =>
  world
    .events("default")
    .filter(({ type, object }) => type === "tool.call" && object === "tool/tsh")
    .map(({ args }) => (args as { args?: unknown }).args);

describe("a word that a person types", () => {
  test("is in the next prompt of the session, and in its log like any other", async () => {
    expect(await typed("pin fs.read")).toEqual({ output: "fs.read is pinned\n", status: 0 });
    expect(await typed("load fs.stat fs.list")).toEqual({
      output: "fs.stat is loaded\nfs.list is loaded\n",
      status: 0,
    });
    expect(await loadedNext()).toEqual(["fs.read", "fs.list", "fs.stat"]);
    expect(await typed("unload fs.list fs.stat")).toMatchObject({ status: 0 });
    expect(await typed("unpin fs.read")).toEqual({
      output: "fs.read is loaded and not pinned any more\n",
      status: 0,
    });
    expect(await loadedNext()).toEqual(["fs.read"]);
    expect(told()).toContainEqual(["pin", "fs.read"]);
    const { output } = await typed("loads --json");
    expect(JSON.parse(output)).toEqual({
      word: "loads",
      text: expect.stringMatching(/^loaded\tfs\.read\t\d+ bytes\nloaded 1 of /),
    });
  });

  test("works for a tsh that a program starts, alone and with lines from a pipe", async () => {
    expect(await typed("shell.exec '/ctx/bin/tsh load fs.stat; echo one $?'")).toEqual({
      output: "fs.stat is loaded\none 0\n",
      status: 0,
    });
    const lines =
      'printf "unload fs.stat\\nload fs.none\\n" | /ctx/bin/tsh 2> /dev/null; echo two $?';
    expect((await typed(`shell.exec '${lines}'`)).output).toBe("fs.stat is unloaded\ntwo 1\n");
  });

  test("is refused with a code and a reason, and changes nothing then", async () => {
    const before = await loadedNext();
    expect(await typed("load fs.write fs.none")).toEqual({
      output: expect.stringMatching(/^tsh: cannot load: .*"fs\.none" .*\[ENOENT\]/),
      status: 1,
    });
    expect(await typed("pin ../x")).toMatchObject({ status: 2 });
    expect(await typed("pin agent.update")).toEqual({
      output: expect.stringMatching(/^tsh: cannot pin: .*agent\.update.*\[EACCES\]/),
      status: 13,
    });
    expect(await typed("pin tsh")).toMatchObject({ status: 2 });
    expect(await loadedNext()).toEqual(before);
  });
});

describe("a word while a run is active", () => {
  test("waits, lets the run's calls have the terminal, and is answered after them", async () => {
    const run = await behind(sh("echo in 'the'' terminal'"));
    person.type("pin fs.stat\r");
    await seen(/waiting for the run to end/);
    openGate();
    await seen(/▶[\s\S]*in the terminal\r\n[\s\S]*133;D;0\x07/);
    await seen(/> [^\n]*pin fs\.stat\r\n[\s\S]*fs\.stat is pinned\r\n[\s\S]*133;D;0\x07/);
    await seen(/coder:~> /);
    expect(await run.done()).toMatchObject({ status: "ok" });
    expect(results(run).at(-1)).toBe("in the terminal\n[exit 0]\n");
    expect(await loadedNext()).toContain("fs.stat");
    const { stdout } = await world.run([
      "ctx",
      "terminal",
      "output",
      "coder",
      "--last",
      "1",
      "--plain",
    ]);
    expect(stdout).toBe("fs.stat is pinned\n");
    await typed("unpin fs.stat");
    expect((await typed("unload fs.stat")).output).toBe("fs.stat is unloaded\n");
  });

  test("is given up by ^C, and then it is never done", async () => {
    const before = told().length;
    const run = await behind();
    person.type("pin fs.stat\r");
    await seen(/waiting for the run to end/);
    person.type("\x03");
    await seen(/133;D;130\x07[\s\S]*coder:~> /);
    openGate();
    expect(await run.done()).toMatchObject({ status: "ok" });
    expect((await typed("loads")).output).not.toContain("fs.stat");
    expect(told().slice(before)).not.toContainEqual(["pin", "fs.stat"]);
  });

  test("that a call of the run itself says is refused soon, instead of waiting for itself", async () => {
    const run = send(sh("/ctx/bin/tsh pin fs.stat"), tsh("pin", "fs.list"));
    expect(await run.done()).toMatchObject({ status: "ok" });
    const [first, second] = results(run);
    expect(first).toMatch(/a run of the session goes on.*\[busy\][\s\S]*\[exit \d+\]\n$/);
    expect(second).toBe("fs.list is pinned");
    expect(await loadedNext()).toEqual(["fs.list", "fs.read"]);
  });

  test("waits at the host's end too when the server is restarted: it says that nobody answered", async () => {
    const run = await behind();
    person.type("pin fs.write\r");
    await seen(/waiting for the run to end/);
    await world.stop("SIGKILL");
    await seen(/before it answered \\?"pin\\?" \[EHOSTDOWN\][\s\S]*coder:~> /);
    run.socket.destroy();
    await world.serve(settings);
    expect((await typed("loads")).output).not.toContain("fs.write");
  });
});

/** Says a word at the terminal's own socket from outside of it; what came, or why nothing did. */
async function outside(uid: number): Promise<string> {
  const { control } = JSON.parse(readFileSync(receiptPath(world, "default"), "utf8"));
  expect(readdirSync(control)).toContain("control.sock");
  const folder = openSync(control, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    const socket = asUid(uid, () => connect(`/proc/self/fd/${folder}/control.sock`));
    socket.write(
      `${JSON.stringify({ op: "tsh", request_id: "mine", args: ["pin", "fs.stat"] })}\n`,
    );
    let said = "";
    let failed = "";
    socket.on("data", (data: Buffer) => {
      said += data.toString();
    });
    socket.on("error", (error: { code?: string }) => {
      failed = `${error.code}`;
    });
    await new Promise((resolve) => socket.on("close", resolve));
    return said || failed;
  } finally {
    closeSync(folder);
  }
}

// A stranger is not waited for: what it said may be unread when it is cut off, which can take the answer along.
const refused = /^\{"request_id":null,"ok":false,"code":"EACCES",.*not of this run|^ECONNRESET$/;

test("a process outside of the terminal is refused, whatever its uid", async () => {
  expect(await outside(world.uid)).toMatch(refused);
  if (isRoot) {
    expect(await outside(world.uid + 5000)).toMatch(/^EACCES$/);
    expect(await outside(0)).toMatch(refused);
  } else console.log("SKIP another uid: connecting as one needs root");
  expect((await typed("loads")).output).not.toContain("fs.stat");
});
