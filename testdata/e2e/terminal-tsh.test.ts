// The tool shell in a session's terminal, by the compiled programs: a person's tools, jobs and bash, the
// agent's calls between them, and what none of it may touch.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { leftoversAfterGrace } from "./leftovers.ts";
import {
  ask,
  listed,
  missingPrograms,
  PlainClient,
  running,
  skipsWithout,
  start,
  stop,
  until,
} from "./terminal-start-world.ts";
import { isRoot, World } from "./world.ts";

setDefaultTimeout(60_000);

const world = new World();
const home = join(world.source, "home", String(world.uid), "agent/coder");
const has = (program: string) => missingPrograms(program).length === 0;
const withoutBash = skipsWithout("bash and tmux in the tool shell", "bash");
const withoutTmux = skipsWithout("tmux in the tool shell", "tmux");
let person: PlainClient;

beforeAll(async () => {
  await world.bootstrap();
  const policy = join(world.source, "agent/coder.d/policy");
  for (const tool of ["bash", "tmux", "tsh.config"].filter(
    (name) => name.includes(".") || has(name),
  )) {
    appendFileSync(policy, `allow coder_t tool:${tool} execute\n`);
  }
  // A search path that leads to traps, for every program of the agent.
  writeFileSync(join(world.source, "agent/coder.d/env"), "PATH=/home/agent/traps\n");
  mkdirSync(join(home, "traps"));
  for (const name of ["fs.read", "ls", "bash", "sh", "ctx", "tsh", "stty"]) {
    const spring = `#!/bin/sh\necho ${name} >> /home/agent/sprung\n`;
    writeFileSync(join(home, "traps", name), spring, { mode: 0o755 });
  }
  if (isRoot) Bun.spawnSync(["chown", "-R", `${world.uid}`, join(home, "traps")]);
  const evil = "clear \x1b[2J\x1b]0;evil\x07 it\n";
  writeFileSync(join(world.source, "tool/fs.stat.d/description"), evil);
  await world.serve();
  await start(world);
  person = new PlainClient(world, "attach");
  await seen(/coder:~> /);
});

afterAll(async () => {
  person?.end();
  for (const { id } of await listed(world)) await stop(world, id.replace("terminal-coder-", ""));
  const left = await leftoversAfterGrace(world);
  await world.destroy();
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
  const plain = output.replaceAll("\x1b[0m\x1b(B\x0f\x1b[?25h", "").replaceAll("\r\n", "\n");
  return { output: plain, status: Number(status) };
}

/** A call of the agent without a model; what it got. */
async function called(...args: string[]): Promise<Record<string, unknown>> {
  const frames = await ask(world, { op: "tsh", session: "default", args });
  const result = frames.find(({ type }) => type === "tool_result");
  if (result === undefined) throw new Error(`no result: ${JSON.stringify(frames)}`);
  const { status, content, code } = result;
  return { status, content, ...(code === undefined ? {} : { code }) };
}

const ok = (content: string) => ({ status: "ok", content });

describe("a person's tool", () => {
  test("gets its words and the terminal, and its exit status is passed on", async () => {
    expect(await typed("shell.exec 'echo \"one  two\" three; tty'")).toEqual({
      output: "one  two three\n/dev/pts/0\n",
      status: 0,
    });
    expect(await typed("shell.exec printf '[%s]' 'a b' '' '$HOME' '*' \"q'q\"")).toEqual({
      output: "[a b][][$HOME][*][q'q]",
      status: 0,
    });
    for (const [command, status] of [
      ["exit 7", 7],
      ["kill -9 $$", 137],
      ["kill -SEGV $$", 139],
    ] as const) {
      expect(await typed(`shell.exec '${command}'`)).toEqual({ output: "", status });
    }
    expect((await typed("fs.read /nowhere")).status).toBe(1);
  });

  test("is found along CTX_PATH alone, and what is shown of it is harmless", async () => {
    expect(await typed("ls")).toEqual({
      output: expect.stringContaining('leads to no executable "ls"'),
      status: 1,
    });
    expect((await typed("fs.list traps")).output).toContain("fs.read");
    const help = await typed("help fs.stat");
    expect(help.output).toContain("clear \\x1b[2J\\x1b]0;evil\\x07 it");
    expect(existsSync(join(home, "sprung"))).toBe(false);
  });

  test("that is not allowed is refused with 13 and the line that is missing", async () => {
    expect(await typed("agent.update system.md x")).toEqual({
      output: expect.stringMatching(/allow coder_t tool:agent\.update execute.*\[EACCES\]/),
      status: 13,
    });
  });

  test("is stopped by ^Z, goes on with fg and ends by ^C, and tsh is not stopped by any", async () => {
    person.type(
      'shell.exec \'trap "echo went on" CONT; echo be""gun; while :; do sleep 0.1; done\'\r',
    );
    await seen(/133;C;/);
    await seen(/begun\r\n/);
    person.type("\x1a");
    await seen(/\[1\] {2}stopped/);
    expect(await typed("jobs")).toMatchObject({
      output: expect.stringContaining("[1]  stopped"),
      status: 0,
    });
    expect((await typed("exit")).output).toContain("there are stopped jobs [busy]");
    person.type("fg\r");
    await seen(/went on/);
    person.type("\x03");
    await seen(/133;D;130/);
  });

  test("runs by a tsh that a program starts: one tool, or lines from a pipe", async () => {
    const script = [
      "/ctx/bin/tsh shell.exec 'exit 9'; echo one $?",
      "/ctx/bin/tsh shell.exec 'kill -9 $$'; echo two $?",
      "echo input | /ctx/bin/tsh shell.exec cat; echo three $?",
      "/ctx/bin/tsh agent.update system.md x 2> /dev/null; echo four $?",
      "printf \"shell.exec 'read -r line; echo got \\$line'\\nnext line\\nexit 6\\n\" | /ctx/bin/tsh; echo five $?",
    ];
    writeFileSync(join(home, "traps/script"), script.join("\n"), { mode: 0o755 });
    if (isRoot) Bun.spawnSync(["chown", `${world.uid}`, join(home, "traps/script")]);
    expect(await typed("shell.exec /bin/sh traps/script")).toEqual({
      output: "one 9\ntwo 137\ninput\nthree 0\nfour 13\ngot next line\nfive 6\n",
      status: 0,
    });
  });

  test.skipIf(withoutBash)("may be bash or tmux, after which all is as it was", async () => {
    const modes = () => typed("shell.exec 'stty -g'");
    const before = await modes();
    const asleep = await called("shell.exec", "stty -g < /dev/pts/0");
    person.type("bash --norc\r");
    await seen(/bash-[\d.]+\$ /);
    person.type("stty raw -echo; stty sane; sleep 77\r");
    await until("it sleeps", () => runs("sleep 77"));
    person.type("\x1a");
    await seen(/Stopped +sleep 77/);
    person.type("fg\r");
    // It is named before it has the terminal, and until then an interrupt is not its own.
    await until("it is in front", () => running(world, /^sleep 77$/).some(isInFront));
    person.type("\x03");
    await seen(/\$ /);
    person.type("stty -echo -icanon; echo $PATH; exit 3\r");
    await seen(/\/usr\/local\/bin:\/usr\/bin:\/bin\r\n[\s\S]*133;D;3\x07/);
    if (!withoutTmux) {
      person.type("tmux new 'echo inside; sleep 0.3'\r");
      await seen(/inside/);
      await seen(/133;D;0\x07/);
    }
    expect(await modes()).toEqual(before);
    expect(await called("shell.exec", "stty -g < /dev/pts/0")).toEqual(asleep);
  });
});

/** Whether the process's group is the one that its terminal's keys reach, and it is not stopped. */
function isInFront(pid: number): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const [state, , group, , , front] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return state !== "T" && group === front;
}

const runs = (command: string) => running(world, new RegExp(`^${command}$`)).length > 0;

describe("a call of the agent", () => {
  test("is shown with its output and the person's half line comes back", async () => {
    person.type("half a li");
    await seen(/half a li/);
    expect(await called("shell.exec", "echo out; echo err >&2; printf end")).toEqual(
      ok("out\nerr\nend\n[exit 0]\n"),
    );
    await seen(
      /▶[\s\S]*shell\.exec 'echo out;[\s\S]*out\r\nerr\r\nend\r\n[\s\S]*133;D;0[\s\S]*coder:~> [\s\S]*half a li/,
    );
    expect(await called("shell.exec", "kill -9 $$")).toEqual(ok("[exit 137]\n"));
    expect(await called("fs.read", "nowhere")).toMatchObject({ status: "error", code: "ENOENT" });
    person.type("\x15");
  });

  test("waits while a person's program runs, and a person's line waits while it runs", async () => {
    person.type("shell.exec 'sleep 0.4; echo person'\r");
    await seen(/133;C/);
    const call = called("shell.exec", "echo agent begins; sleep 0.5; echo agent ends");
    await seen(/\nperson\r\n|\x07person\r\n/);
    await seen(/agent begins\r\n/);
    person.type("shell.exec 'echo typed meanwhile'\r");
    // Nothing of what is typed is between the two.
    await seen(/^agent ends\r\n/);
    await seen(/typed meanwhile\r\n/);
    expect(await call).toEqual(ok("agent begins\nagent ends\n[exit 0]\n"));
  });

  test("is cancelled by ^C, ends at its time, and leaves what it started running", async () => {
    const cancelled = called("shell.exec", "echo begun; sleep 78; echo no");
    await seen(/begun\r\n/);
    person.type("\x03");
    expect(await cancelled).toMatchObject({ status: "error", code: "ECANCELED" });
    expect(runs("sleep 78")).toBe(false);
    const late = await called("shell.exec", '{"cmd":"sleep 79","timeout_ms":300}');
    expect(late).toMatchObject({ status: "error", code: "ETIMEDOUT" });
    expect(runs("sleep 79")).toBe(false);
    const left =
      "(for n in 1 2 3 4; do sleep 0.2; echo later $n; done; echo $(sh -c 'echo $PPID') > left; exec sleep 80) & echo started";
    expect(await called("shell.exec", left)).toEqual(ok("started\n[exit 0]\n"));
    await seen(/later 4\r\n[\s\S]*coder:~> /);
    await until("what was left running", () => runs("sleep 80"));
    expect((await called("shell.exec", "kill $(cat left); echo"))["status"]).toBe("ok");
  });

  test("with more output than is kept is shown whole and answered within the bound", async () => {
    const { content } = await called("shell.exec", "seq 1 800000 | sed 's/$/ line/'; echo the end");
    // What is handed to a model is cut; what a person sees is not.
    expect(String(content)).toStartWith("1 line\n2 line\n");
    expect(String(content).length).toBeLessThan(20_000);
    const end = "800000 line\r\nthe end\r\n";
    // Looked for at the end alone: there are many megabytes before it.
    const at = await until("the end", () => {
      const found = person.text.lastIndexOf(end);
      return found > from && found;
    });
    from = at + end.length;
  });

  test("finds the shell again after the server is restarted", async () => {
    await world.stop("SIGKILL");
    await world.serve();
    expect(await called("shell.exec", "tty || echo here")).toMatchObject({ status: "ok" });
    await seen(/▶[\s\S]*tty \|\| echo here[\s\S]*133;D;0/);
    expect(await typed("shell.exec 'echo still'")).toEqual({ output: "still\n", status: 0 });
  });
});

test("what was typed is in the agent's home, for its owner alone", async () => {
  const file = join(home, ".tsh_history");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, "utf8")).toContain("\"shell.exec 'echo still'\"\n");
});
