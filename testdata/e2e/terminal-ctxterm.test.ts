// `ctxterm` as it is built: what its clients see and may do, whose it is, and how it ends.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, writeFileSync } from "node:fs";
import { terminalClientsMax } from "../../internal/terminal-wire/mod.ts";
import { TerminalClient } from "./terminal-ctxterm-client.ts";
import { CtxtermStage, ctxterm } from "./terminal-ctxterm-stage.ts";
import { isRoot } from "./world.ts";

let stage: CtxtermStage;
beforeEach(() => {
  stage = new CtxtermStage();
});
afterEach(() => stage.end());

const said = (text: string) => (client: TerminalClient) => client.text.includes(text);

describe("clients", () => {
  test("see the same, watchers type nothing, and the last one to act decides the size", async () => {
    const terminal = stage.start("stty -echo; while read line; do echo [$line] $(stty size); done");
    const typist = await stage.join("attach/1\n");
    const watcher = await stage.join("watch/1\n");
    const plain = await stage.join("watch\n");
    await watcher.until(({ frames }) => frames.length > 0);
    await plain.until(({ text }) => text !== "");
    typist.send({ type: "resize", cols: 101, rows: 31 });
    plain.type("never\n");
    typist.type("one\n");
    await Promise.all([typist, watcher, plain].map((one) => one.until(said("[one] 31 101"))));
    expect(watcher.frame("resize")).toEqual({ type: "resize", cols: 101, rows: 31 });
    const second = await stage.join("attach\n");
    await second.until(said("[one] 31 101"));
    second.type("two\n");
    await watcher.until(said("[two] 31 101"));
    typist.send({ type: "resize", cols: 1000, rows: 1000 });
    typist.type("more\n");
    await watcher.until(said("[more] 150 1000"));
    watcher.type("no\n");
    expect((await watcher.untilEnd()).frame("error")).toMatchObject({ code: "EINVAL" });
    typist.send({ type: "ping", data: new TextEncoder().encode("there?") });
    await typist.until((client) => client.frame("ping") !== undefined);
    expect(plain.text).not.toContain("never");
    terminal.kill("SIGTERM");
    await terminal.exited;
  });

  test("that type at once never mix inside of a write", async () => {
    stage.start("stty raw -echo; exec cat");
    const clients = await Promise.all([1, 2, 3].map(() => stage.join("attach/1\n")));
    for (const client of clients) await client.until(({ frames }) => frames.length > 0);
    const rounds = 150;
    for (let round = 0; round < rounds; round++) {
      for (const [who, client] of clients.entries()) client.type(`<${String(who).repeat(500)}>\n`);
    }
    const [first] = clients as [TerminalClient];
    const lines = () => first.text.split("\n").filter((line) => line.includes("<"));
    await first.until(() => lines().length === rounds * clients.length);
    expect(new Set(lines().map((line) => line.replace(/^.*</, "<")))).toEqual(
      new Set(["0", "1", "2"].map((who) => `<${who.repeat(500)}>`)),
    );
  });

  test("that say nothing, something else or far too much are told and change nothing", async () => {
    stage.start("stty -echo; while read line; do echo [$line]; done");
    const silent = await stage.join("");
    const cases = ["hello\n", `${"watch".repeat(13)}\n`, "x".repeat(10 * 1024 * 1024)];
    for (const first of cases) {
      const wrong = await TerminalClient.connect(stage.socket, "/1");
      wrong.close();
      const client = await stage.join(first);
      await client.untilEnd();
      expect(client.text).toMatch(/^ctxterm: first line is .* \[EINVAL\]\r\n$/);
    }
    // Who asks for frames, of whatever version, is answered by one.
    const newer = await (await stage.join("attach/1x\n")).untilEnd();
    expect(newer.frame("error")).toMatchObject({ code: "EINVAL" });
    const late = silent.untilEnd();
    const good = await stage.join("attach\n");
    good.type("fine\n");
    await good.until(said("[fine]"));
    expect((await late).text).toBe("ctxterm: no whole first line within 3 s [ETIMEDOUT]\r\n");
  });

  test("past the last place are refused in the form that they ask for", async () => {
    stage.start("sleep 100");
    const joined = ({ frames }: TerminalClient) => frames.length > 0;
    for (let i = 0; i < terminalClientsMax; i += 1) {
      await (await stage.join("watch/1\n")).until(joined);
    }
    const why = `${terminalClientsMax} clients are here already`;
    for (const first of ["watch\n", ""]) {
      const plain = await (await stage.join(first)).untilEnd();
      expect(plain.text).toBe(`ctxterm: ${why} [busy]\r\n`);
    }
    const framed = await (await stage.join("attach/1\n")).untilEnd();
    expect(framed.frame("error")).toMatchObject({ code: "busy", message: why });
  });

  test("of another uid are refused", async () => {
    if (!isRoot) return console.log("SKIP: another uid needs root");
    chmodSync(stage.folder, 0o755);
    stage.start("sleep 100");
    await (await stage.join("watch/1\n")).until(({ frames }) => frames.length > 0);
    // Root joins no terminal of others by accident either: it is the owner that counts.
    const script = `const s = await Bun.connect({ unix: "${stage.socket}", socket: {
      data(_s, d) { process.stdout.write(d); }, close() { process.exit(0); } } }); s.write("watch/1\\n");`;
    const argv = ["setpriv", "--reuid=4242", "--regid=4242", "--clear-groups", process.execPath];
    const other = Bun.spawn([...argv, "-e", script], { stdout: "pipe", stderr: "pipe", cwd: "/" });
    expect(await new Response(other.stderr).text()).toMatch(/EACCES|permission/i);
    chmodSync(stage.socket, 0o666);
    const open = Bun.spawn([...argv, "-e", script], { stdout: "pipe", stderr: "pipe", cwd: "/" });
    expect(await new Response(open.stdout).text()).toContain('"code":"EACCES"');
  });
});

describe("the place", () => {
  const refusal = async (socket?: string) => {
    const second = stage.start("true", [], socket);
    return { status: await second.exited, text: await second.stderr };
  };

  test("has one owner, and a successor when that was killed", async () => {
    const first = stage.start("echo first; sleep 100");
    await (await stage.join("watch\n")).until(said("first"));
    const { status, text } = await refusal();
    expect([status, text]).toEqual([69, expect.stringContaining("another ctxterm owns it [busy]")]);
    await (await stage.join("watch\n")).until(said("first"));
    first.kill("SIGKILL");
    await first.exited;
    expect(lstatSync(stage.socket).isSocket()).toBe(true);
    stage.start("echo second; sleep 100");
    await (await stage.join("watch\n")).until(said("second"));
  });

  test("is taken over from a stale socket and from nothing else", async () => {
    Bun.listen({ unix: stage.socket, socket: { data() {} } }).stop(true);
    if (!existsSync(stage.socket)) await makeStale(stage.socket);
    const terminal = stage.start("echo here; sleep 100");
    await (await stage.join("watch\n")).until(said("here"));
    terminal.kill("SIGTERM");
    await terminal.exited;
    expect(existsSync(stage.socket)).toBe(false);

    writeFileSync(stage.path("file"), "mine");
    expect(await refusal(stage.path("file"))).toMatchObject({ status: 1 });
    const listener = Bun.listen({ unix: stage.path("alive"), socket: { data() {} } });
    expect(await refusal(stage.path("alive"))).toMatchObject({ status: 69 });
    listener.stop(true);
    mkdirSync(stage.path("open"));
    chmodSync(stage.path("open"), 0o777);
    expect(await refusal(stage.path("open/s"))).toMatchObject({ status: 13 });
    if (!isRoot) return console.log("SKIP a socket of another uid: making one needs root");
    await makeStale(stage.path("theirs"));
    chownSync(stage.path("theirs"), 4242, 4242);
    expect(await refusal(stage.path("theirs"))).toMatchObject({ status: 13 });
    expect(existsSync(stage.path("theirs"))).toBe(true);
  });

  test("is private whatever the umask is", async () => {
    const argv = [ctxterm, "--listen", stage.socket, "--record", stage.log, "--", "sleep", "100"];
    stage.run(["/bin/sh", "-c", 'umask 0; exec "$@"', "sh", ...argv]);
    await stage.join("watch\n");
    const mode = (path: string) => (lstatSync(path).mode & 0o777).toString(8);
    const paths = [stage.socket, `${stage.socket}.lock`, stage.log];
    expect(paths.map(mode)).toEqual(["600", "600", "600"]);
  });
});

/** A socket whose listener is gone without having removed it. */
async function makeStale(path: string): Promise<void> {
  const script = `Bun.listen({ unix: ${JSON.stringify(path)}, socket: { data() {} } });
    process.kill(process.pid, "SIGKILL");`;
  await Bun.spawn([process.execPath, "-e", script], { stderr: "ignore" }).exited;
}

describe("the end", () => {
  const ends: [string, number, number][] = [
    ["exit 0", 0, 0],
    ["exit 7", 7, 0],
    ["kill -9 $$", 137, 9],
  ];

  test.each(ends)(
    "by `%s` is told to clients, in the log and as its own status",
    async (how, status, signal) => {
      const terminal = stage.start(`read line; printf last; ${how}`, ["--record", stage.log]);
      const client = await stage.join("attach/1\n");
      await client.until(({ frames }) => frames.length > 0);
      client.type("\n");
      await client.untilEnd();
      expect(client.text).toEndWith("last");
      expect(client.frames.at(-1)).toEqual({ type: "exit", status, signal });
      expect(await terminal.exited).toBe(status);
      const last = stage.records().at(-1);
      expect(last).toMatchObject({
        type: "process.exit",
        status,
        ...(signal > 0 ? { signal } : {}),
      });
      expect(existsSync(stage.socket)).toBe(false);
    },
  );

  test("before any client came is in the log and in the status", async () => {
    const terminal = stage.start("echo early; exit 7", ["--record", stage.log]);
    expect(await terminal.exited).toBe(7);
    const types = stage.records().map(({ type }) => type);
    expect(types).toEqual(["pty.resize", "pty.output", "process.exit"]);
  });

  test("in the very moment in which a client comes is told to it, or nobody is there", async () => {
    for (let round = 0; round < 4; round++) {
      const terminal = stage.start("echo quick; exit 7");
      let isOver = false;
      void terminal.exited.then(() => {
        isOver = true;
      });
      let told = 0;
      while (!isOver) {
        const client = await TerminalClient.connect(stage.socket, "watch/1\n").catch(
          () => undefined,
        );
        if (client === undefined) {
          await Bun.sleep(1);
          continue;
        }
        await client.untilEnd();
        expect(client.frame("exit") ?? "not accepted any more").toEqual({
          type: "exit",
          status: 7,
          signal: 0,
        });
        told++;
      }
      expect(await terminal.exited).toBe(7);
      expect(told).toBeGreaterThan(0);
    }
  });

  test("comes by SIGTERM, for a child that ignores it after the grace, and never by SIGHUP", async () => {
    const stubborn = stage.start("trap '' HUP TERM; echo up; while :; do sleep 1; done");
    const client = await stage.join("watch/1\n");
    await client.until(said("up"));
    stubborn.kill("SIGHUP");
    const begun = performance.now();
    stubborn.kill("SIGTERM");
    await client.untilEnd();
    expect(performance.now() - begun).toBeGreaterThan(1900);
    expect(client.frames.at(-1)).toEqual({ type: "exit", status: 137, signal: 9 });
    expect(await stubborn.exited).toBe(137);
    const polite = stage.start("echo up; sleep 100");
    const other = await stage.join("watch/1\n");
    await other.until(said("up"));
    polite.kill("SIGTERM");
    expect(await polite.exited).toBe(129);
    expect((await other.untilEnd()).frame("exit")).toMatchObject({ status: 129, signal: 1 });
  });

  test("before the beginning says why", async () => {
    const missing = stage.run([ctxterm, "--listen", stage.socket, "--", "/no/such/program"]);
    expect(await missing.exited).toBe(1);
    expect(await missing.stderr).toContain('cannot start "/no/such/program"');
    expect(existsSync(stage.socket)).toBe(false);
    const nowhere = stage.run([ctxterm, "--", "true"]);
    expect(await nowhere.exited).toBe(2);
  });
});
