// The agent's calls in its session's terminal, by the compiled programs: a model's run with a person
// attached who types in between, a server restarted between two runs, the end of calls in every phase,
// and what a program of the sandbox gains that speaks the protocol of the calls.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { leftoversAfterGrace } from "./leftovers.ts";
import { impostor, plain, Run, sh, tsh, web } from "./terminal-calls-world.ts";
import {
  listed,
  mark,
  PlainClient,
  shown,
  skipsWithout,
  sleepers,
  start,
  stop,
  until,
} from "./terminal-start-world.ts";
import { isRoot, World } from "./world.ts";

const world = new World();
const slowMs = 40_000;
/** What waits for a next run is gone soon, so that it is no leftover. */
const idle = ["--set", "session_idle_ms=500"];

beforeAll(async () => {
  await world.bootstrap();
  await world.run(["ctx", "set", "agent/coder.d/model", "debug/script"]);
  writeFileSync(join(world.workspace, "a.txt"), "the content of a\n");
  writeFileSync(join(world.workspace, "web.py"), web);
  writeFileSync(join(world.workspace, "impostor.py"), impostor);
  await world.serve(idle);
  await startHere("default");
}, slowMs);

afterAll(async () => {
  for (const { id } of await listed(world)) await stop(world, id.replace("terminal-coder-", ""));
  const left = await leftoversAfterGrace(world);
  await world.destroy();
  if (isRoot) expect(left).toEqual([]);
}, slowMs);

const workspace = () => `${world.workspace} /workspace rw`;
const startHere = (session: string, command?: readonly string[]) =>
  start(world, { session, mounts: [workspace()], ...(command === undefined ? {} : { command }) });

const run = (session: string, ...directives: string[]) => new Run(world, session, directives);
const resultsOf = (session: string, ...directives: string[]) =>
  run(session, ...directives).results();

/** A web server that the first call starts, what asks it, and a session that goes on. */
const withoutServers = skipsWithout("servers that calls leave running", "python3", "curl", "tmux");
const withoutPython = skipsWithout("programs that are not the shell", "python3");

const ask = "curl -sf --unix-socket /tmp/web.sock http://here/";

const rows = Array.from({ length: 300 }, (_, at) => `row-${at + 1}-${"=".repeat(40)}-end`);

describe("a run in a terminal with a person", () => {
  test.skipIf(withoutServers)(
    "five calls and what is typed between them: all see the same, no line is cut, results are whole",
    async () => {
      const person = new PlainClient(world, "attach");
      const watcher = new PlainClient(world, "watch");
      await until("a prompt", () => plain(person.text).includes("> "));
      await until("the same", () => watcher.text.length > 0);
      person.type("fs.st");
      const serve = `/usr/bin/python3 /workspace/web.py & until ${ask}; do sleep 0.05; done`;
      const print = `for i in $(seq 1 300); do echo "row-$i-${"=".repeat(40)}-end"; [ $((i % 30)) != 0 ] || sleep 0.03; done`;
      const keep = "tmux -L calls new-session -d -s kept 'sleep 600'; tmux -L calls ls -F '#S'";
      const going = run(
        "default",
        sh(serve),
        sh(print),
        sh(ask),
        tsh("fs.read", "a.txt"),
        sh(keep),
      );
      await until("rows", () => person.text.includes("row-40-"));
      person.type("at a.txt\r");
      const results = await going.results();
      expect(results.map(({ status }) => status)).toEqual(["ok", "ok", "ok", "ok", "ok"]);
      expect(results.map(({ content }) => content)).toEqual([
        "served\n[exit 0]\n",
        `${rows.join("\n")}\n[exit 0]\n`,
        "served\n[exit 0]\n",
        "the content of a\n",
        "kept\n[exit 0]\n",
      ]);
      // What was typed while a call ran is run after it.
      await until("its answer", () =>
        /^\{"path":"a\.txt",.*"size":17.*\}$/m.test(plain(person.text)),
      );
      const answers = () => plain(person.text).split("the content of a\n").length - 1;
      expect(answers()).toBe(1);
      person.type("fs.read a.txt\r");
      await until("the second answer", () => answers() === 2);
      await until("a prompt", () => /the content of a\n[^\n]*> $/.test(plain(person.text)));
      // Before the first call each of them was shown the screen as it was when they came.
      const since = ({ text }: PlainClient) => text.slice(text.indexOf("▶"));
      await until("the watcher", () => since(watcher).length === since(person).length);
      expect(since(watcher)).toBe(since(person));
      const lines = plain(person.text).split("\n");
      expect(rows.filter((row) => !lines.includes(row))).toEqual([]);
      expect(lines.filter((line) => line.endsWith("> fs.stat a.txt")).length).toBe(1);
      const calls = lines.filter((line) => line.includes("▶"));
      expect(calls.map((line) => line.slice(line.indexOf("▶"), line.indexOf("▶") + 12))).toEqual([
        "▶ shell.exec",
        "▶ shell.exec",
        "▶ shell.exec",
        "▶ fs.read a.",
        "▶ shell.exec",
      ]);
      person.end();
      watcher.end();
    },
    slowMs,
  );

  test.skipIf(withoutServers)(
    "a restarted server changes nothing of it: what ran goes on, and calls run there again",
    async () => {
      for (const signal of ["SIGTERM", "SIGKILL"] as const) {
        await world.stop(signal);
        await world.serve(idle);
        const before = shown(world).length;
        const list = `tmux -L calls ls -F '#S'; ${ask}`;
        expect(await resultsOf("default", sh(list))).toEqual([
          { status: "ok", content: "kept\nserved\n[exit 0]\n" },
        ]);
        expect(plain(shown(world).slice(before))).toContain("▶ shell.exec");
      }
    },
    slowMs,
  );

  test(
    "a tool called directly, and a call that is to have another view, have a sandbox of their own",
    async () => {
      const here = sh("echo here > /tmp/here; cat /tmp/here");
      const look = sh("cat /tmp/here || echo apart");
      const direct = '@call fs.read {"path":"/workspace/a.txt"}';
      const before = shown(world).length;
      const first = await resultsOf("default", here, direct, look);
      expect(first.map(({ content }) => content)).toEqual([
        "here\n[exit 0]\n",
        "the content of a\n",
        "here\n[exit 0]\n",
      ]);
      await world.run(["ctx", "set", "agent/coder.d/env", "MINE=1\n"]);
      const [apart] = await resultsOf("default", look);
      expect(apart?.content).toContain("apart\n[exit 0]\n");
      await world.run(["ctx", "set", "agent/coder.d/env", "-"], { input: "" });
      const [again] = await resultsOf("default", look);
      expect(again?.content).toBe("here\n[exit 0]\n");
      const notes = plain(shown(world).slice(before)).match(/.* in a sandbox of its own: .*/g);
      expect(notes?.map((line) => line.replace(/^.*> /, ""))).toEqual([
        expect.stringMatching(/"fs\.read" runs .*: the model called it directly$/),
        expect.stringMatching(/shell\.exec runs .*another view/),
      ]);
    },
    slowMs,
  );
});

describe("a call ends", () => {
  test(
    "when it is cancelled while it runs, and its program with it",
    async () => {
      const going = run("default", sh("exec /usr/bin/sleep 611"));
      await until("the sleeper", () => sleepers(world, "611").length === 1);
      await going.cancel();
      await until("its end", () => sleepers(world, "611").length === 0);
      expect(await resultsOf("default", sh("echo next"))).toEqual([
        { status: "ok", content: "next\n[exit 0]\n" },
      ]);
    },
    slowMs,
  );

  test(
    "when it is cancelled, or its time is over, while a program of the person is in the foreground",
    async () => {
      const person = new PlainClient(world, "attach");
      await until("a prompt", () => plain(person.text).includes("> "));
      person.type("shell.exec '/usr/bin/sleep 612'\r");
      await until("the sleeper", () => sleepers(world, "612").length === 1);
      const late = await resultsOf("default", sh("echo too late", 300));
      expect(late).toEqual([{ status: "error", content: expect.stringContaining("foreground") }]);
      const going = run("default", sh("echo never"));
      await going.cancel();
      expect(sleepers(world, "612").length).toBe(1);
      const waiting = run("default", sh("echo 'at '''last"));
      await waiting.called;
      person.type("\x03");
      expect(await waiting.results()).toEqual([{ status: "ok", content: "at last\n[exit 0]\n" }]);
      expect(plain(shown(world))).not.toMatch(/^(too late|never)$/m);
      person.end();
    },
    slowMs,
  );

  test(
    "when the person interrupts it, which the model is told",
    async () => {
      const person = new PlainClient(world, "attach");
      const going = run("default", sh("echo begun; exec /usr/bin/sleep 613"), sh("echo next"));
      await until("the sleeper", () => sleepers(world, "613").length === 1);
      person.type("\x03");
      expect(await going.results()).toEqual([
        { status: "error", content: "begun\n[stopped: cancelled at the terminal]\n" },
        { status: "ok", content: "next\n[exit 0]\n" },
      ]);
      person.end();
    },
    slowMs,
  );

  test(
    "when its time is over while it runs",
    async () => {
      const [result] = await resultsOf("default", sh("echo begun; exec /usr/bin/sleep 614", 500));
      expect(result).toEqual({
        status: "error",
        content: "begun\n[stopped: it ran longer than 500 ms]\n",
      });
      expect(sleepers(world, "614")).toEqual([]);
    },
    slowMs,
  );

  test(
    "when the terminal dies under it, as an error; the next one has a sandbox of its own",
    async () => {
      await startHere("dies");
      const going = run("dies", sh("echo begun; exec /usr/bin/sleep 615"), sh("echo $TERM"));
      await until("the sleeper", () => sleepers(world, "615").length === 1);
      await stop(world, "dies");
      const [lost, next] = await going.results();
      expect(lost).toEqual({ status: "error", content: expect.stringMatching(/^begun\n\[lost: /) });
      expect(next).toEqual({ status: "ok", content: "dumb\n[exit 0]\n" });
      expect(sleepers(world, "615")).toEqual([]);
    },
    slowMs,
  );
});

describe("a program of the sandbox that is not the shell", () => {
  test.skipIf(withoutPython)(
    "may not serve beside the shell, ask what a run may ask, or speak of the shell's calls",
    async () => {
      const asks = sh("/usr/bin/python3 /workspace/impostor.py ask");
      expect(await resultsOf("default", asks)).toEqual([
        {
          status: "ok",
          content: "<serve=busy>\n<model=EACCES>\n<update=EACCES>\n<begin=EINVAL>\n[exit 0]\n",
        },
      ]);
    },
    slowMs,
  );

  test.skipIf(withoutPython)(
    "that serves where no shell does gets its own session's calls, and its results are bounded",
    async () => {
      await startHere("other", ["/usr/bin/python3", "/workspace/impostor.py", "serve"]);
      expect(await mark(world, "served", "other")).toBe("ok");
      const elsewhere = resultsOf("default", sh("echo of default"));
      const [flood, lie] = await resultsOf("other", sh("echo first"), sh("echo second"));
      expect(await elsewhere).toEqual([{ status: "ok", content: "of default\n[exit 0]\n" }]);
      expect(flood?.status).toBe("ok");
      expect(flood?.content.length).toBeLessThanOrEqual(20_000);
      expect(lie).toEqual({ status: "error", content: expect.stringMatching(/^\[lost: /) });
      expect(await mark(world, "cut", "other")).toBe("2");
      expect([await mark(world, "got1", "other"), await mark(world, "got2", "other")]).toEqual([
        "echo first",
        "echo second",
      ]);
      expect(shown(world, "other")).not.toContain("of default");
    },
    slowMs,
  );
});

test.skipIf(withoutServers)(
  "each decision about a tool that the person typed is in the agent's log",
  () => {
    const log = readFileSync(join(world.source, "agent/coder.d/log"), "utf8");
    const asked = log
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ type }) => type === "tool.authorize");
    expect(asked).toContainEqual(
      expect.objectContaining({ run: "terminal-coder-default", tool: "fs.read", allowed: true }),
    );
  },
);
