// A person and a terminal, by the compiled `ctx` in pseudo-terminals: start, watch in one, attach in
// another, leave and come back, end, and what stays.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { leftoversAfterGrace } from "./leftovers.ts";
import { skipsWithout } from "./terminal-start-world.ts";
import { dist, isRoot, World } from "./world.ts";

const world = new World();
const slowMs = 60_000;
const people: Person[] = [];

beforeAll(async () => {
  await world.bootstrap();
  mkdirSync(join(world.base, "data"));
  writeFileSync(join(world.base, "data/file"), "from the host\n");
  if (isRoot) chownSync(join(world.base, "data"), world.uid, world.uid);
  await world.serve();
}, slowMs);

afterAll(async () => {
  for (const person of people) person.leave();
  for (const { session } of await json("terminal", "list")) {
    await world.run(["ctx", "agent", "stop", "coder", "--session", String(session)]);
  }
  const left = await leftoversAfterGrace(world);
  await world.destroy();
  if (isRoot) expect(left).toEqual([]);
}, slowMs);

async function json(...words: string[]): Promise<Record<string, unknown>[]> {
  const { exit, stdout, stderr } = await world.run([
    "ctx",
    ...words.slice(0, 2),
    "--json",
    ...words.slice(2),
  ]);
  expect([exit, stderr]).toEqual([0, ""]);
  const lines = stdout.split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** `ctx …` in a pseudo-terminal. */
class Person {
  screen = "";
  readonly #child: Bun.Subprocess;
  #changed = Promise.withResolvers<void>();

  constructor(words: readonly string[], size: { cols: number; rows: number }) {
    this.#child = Bun.spawn([join(dist, "ctx"), ...words], {
      cwd: world.workspace,
      env: { ...world.env, TERM: "xterm-256color" },
      terminal: {
        ...size,
        data: (_terminal, bytes) => {
          this.screen += Buffer.from(bytes).toString();
          this.#changed.resolve();
          this.#changed = Promise.withResolvers();
        },
      },
    });
    people.push(this);
  }

  async sees(text: string): Promise<void> {
    const late = performance.now() + 20_000;
    while (!this.screen.includes(text)) {
      await Promise.race([this.#changed.promise, Bun.sleep(100)]);
      if (performance.now() < late) continue;
      throw new Error(`"${text}" never came: ${JSON.stringify(this.screen.slice(-1000))}`);
    }
  }

  type(text: string): void {
    this.#child.terminal?.write(text);
  }

  get ended(): Promise<number> {
    return this.#child.exited;
  }

  leave(): void {
    this.#child.kill("SIGKILL");
    this.#child.terminal?.close();
  }
}

const size = { cols: 90, rows: 30 };
const withoutBash = skipsWithout("a person in a terminal with bash", "bash");
const bash = ["--", "/usr/bin/bash", "--norc"];

test.skipIf(withoutBash)(
  "two see the same, one types, leaves and comes back to the screen as it was; the status is theirs",
  async () => {
    const [started] = await json("agent", "start", "coder", ...bash);
    expect(started).toMatchObject({ terminal: "terminal-coder-default", state: "ready" });
    const watcher = new Person(["agent", "watch", "coder"], { cols: 120, rows: 40 });
    const typist = new Person(["agent", "attach", "coder"], size);
    await typist.sees("$ ");
    typist.type("printf 'seen-%s ' $((40 + 2)); stty size\r");
    await typist.sees("seen-42 30 90");
    await watcher.sees("seen-42 30 90");
    // A watcher's keys go nowhere: the terminal would show them.
    watcher.type("echo intruder\r");
    typist.type(`bash -c 'trap "exit 130" INT; echo wai""ts; while :; do sleep 0.05; done'\r`);
    await typist.sees("waits");
    typist.type("\x03");
    await typist.sees("^C");
    typist.type("echo status-$?\r");
    await typist.sees("status-130");
    typist.type("\x1c\x1c");
    expect(await typist.ended).toBe(0);
    const again = new Person(["terminal", "attach", "terminal-coder-default"], size);
    await again.sees("seen-42 30 90");
    await again.sees("status-130");
    const [status] = await json("terminal", "status", "coder");
    expect(status).toMatchObject({ state: "ready", reachable: true, cols: 90, rows: 30 });
    again.type("exit 7\r");
    expect(await Promise.all([again.ended, watcher.ended])).toEqual([7, 7]);
    expect(watcher.screen).not.toContain("intruder");
    while ((await json("terminal", "status", "coder"))[0]?.["reachable"]) await Bun.sleep(20);
    const late = await world.run(["ctx", "agent", "watch", "coder"]);
    expect(late.exit).toBe(69);
    expect(late.stderr).toContain("has ended with status 7 [EHOSTDOWN]");
    expect(await json("terminal", "status", "coder")).toMatchObject([
      { state: "exited", status: 7 },
    ]);
    const { stdout } = await world.run(["ctx", "terminal", "export", "coder"]);
    const [header = "", ...events] = stdout.trim().split("\n");
    expect(JSON.parse(header)).toMatchObject({ version: 2 });
    expect(events.map((line) => JSON.parse(line)[2]).join("")).toContain("seen-42 30 90");
  },
  slowMs,
);

test.skipIf(withoutBash)(
  "a mount is shown, a stop ends it, and ps knows it as long as it runs",
  async () => {
    const mount = ["--mount", join(world.base, "data"), "/data", "ro", "--no-default-workspace"];
    await json("agent", "start", "coder", "--session", "data", "--cwd", "/data", ...mount, ...bash);
    const typist = new Person(["agent", "attach", "coder", "--session", "data"], size);
    await typist.sees("$ ");
    typist.type("cat file; touch new; ls /workspace; echo end\r");
    await typist.sees("Read-only file system");
    await typist.sees("from the host");
    expect(await json("agent", "ps")).toMatchObject([{ terminal: "terminal-coder-data" }]);
    const [stopped] = await json("agent", "stop", "coder", "--session", "data");
    expect(stopped).toMatchObject({ state: "exited" });
    expect(await typist.ended).toBeGreaterThan(128);
    expect(await json("agent", "ps")).toEqual([]);
  },
  slowMs,
);

test.each([
  ["a folder that is not there", ["--mount", "/nowhere/x", "/data", "ro"], 'mount "/nowhere/x"'],
  ["what is no mount", ["--mount", "/srv /data"], 'mount "/srv /data" is not SRC DST ro|rw'],
  ["a target that hides the sandbox", ["--mount", "/srv", "/usr", "ro"], 'mount target "/usr"'],
  ["a working folder that is not there", ["--cwd", "/nowhere"], "/nowhere"],
])(
  "start refuses %s",
  async (_name, words, message) => {
    const argv = ["ctx", "agent", "start", "coder", "--session", "refused", ...words];
    const { exit, stdout, stderr } = await world.run(argv);
    expect([exit === 0, stdout]).toEqual([false, ""]);
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/ \[E[A-Z]+\]\n/);
  },
  slowMs,
);
