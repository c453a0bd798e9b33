// The sandbox of a terminal is that of a call: the same attempts to get out of it, made by a program in
// a running terminal, and what only a terminal has. Job control works inside all the same.

import { dlopen } from "bun:ffi";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expectations } from "../sandbox/expectations.ts";
import {
  ask,
  fileOf,
  PlainClient,
  recordsOf,
  shown,
  sleepers,
  start,
  stop,
  until,
} from "./terminal-start-world.ts";
import { isRoot, World } from "./world.ts";

const python = "/usr/bin/python3";
const bash = "/usr/bin/bash";
const missing = existsSync(python) ? undefined : `there is no ${python}`;
if (missing !== undefined) console.log(`SKIP escapes from a terminal: ${missing}`);
if (!existsSync(bash)) console.log(`SKIP job control in a terminal: there is no ${bash}`);

/** The probe writes half a gigabyte and forks until it may not. */
const probeMsMax = 180_000;

/** landlock_create_ruleset(2) that asks for the version; the fence needs the second. */
const { syscall } = dlopen("libc.so.6", {
  syscall: { args: ["i64", "i64", "i64", "i64"], returns: "i64" },
}).symbols;
const fence = Number(syscall(444, 0, 0, 1)) >= 2;

/** What only a program in a terminal can try: at its terminal, and at who owns it. */
const atOwner = `
owner = os.getppid()
tty = os.open("/dev/tty", os.O_RDWR)
attempt("TIOCSTI at its own terminal", lambda: fcntl.ioctl(tty, 0x5412, b"x") and None)
attempt("open the recording", lambda: os.close(os.open(f"/proc/{owner}/fd/1", os.O_WRONLY)))
attempt("open the terminal's side", lambda: os.listdir(f"/proc/{owner}/fd") and None)
attempt("write the owner's memory", lambda: os.close(os.open(f"/proc/{owner}/mem", os.O_RDWR)))
`;

const world = new World();
const outside = mkdtempSync("/tmp/ctx-outside-");
const abstract = `ctx-test-terminal-${process.pid}`;
const server = Bun.listen({ unix: `\0${abstract}`, socket: { data() {} } });

beforeAll(async () => {
  await world.bootstrap();
  writeFileSync(join(outside, "secret"), "a secret outside of every mount");
  mkdirSync(join(world.workspace, ".git/hooks"), { recursive: true });
  writeFileSync(join(world.workspace, ".git/config"), "[core]\n");
  if (isRoot) Bun.spawnSync(["chown", "-R", `${world.uid}`, world.workspace]);
  await world.serve([], { A_SECRET: "a-secret-of-the-caller" });
  // A session with a history that could be written.
  await ask(world, { op: "tsh", session: "default", args: ["tools"] });
}, 30_000);

afterAll(async () => {
  server.stop(true);
  await world.destroy();
  rmSync(outside, { recursive: true, force: true });
});

const mounts = [`${world.workspace} /workspace rw`];

describe.skipIf(missing !== undefined)("a program in a terminal", () => {
  let lines = new Map<string, string>();

  beforeAll(async () => {
    const probes = readFileSync(resolve(import.meta.dir, "../sandbox/probes.py"), "utf8");
    const script = probes.replace("def forks():", `${atOwner}\n\ndef forks():`);
    await start(world, { mounts, command: [python, "-c", script, abstract, outside] });
    const end = performance.now() + probeMsMax;
    while (fileOf(world, "state") !== "exited" && performance.now() < end) await Bun.sleep(20);
    lines = new Map(
      shown(world)
        .split("\n")
        .map((line) => line.split("\t", 2) as [string, string]),
    );
  }, probeMsMax);

  test("came to its end", () => {
    expect(recordsOf(world).at(-1)).toMatchObject({ type: "process.exit", status: 0 });
  });

  const own = {
    processes: "['bwrap', 'ctxterm', 'python3']",
    run: "['cortexfs']",
    "TIOCSTI at its own terminal": "EPERM",
    "open the recording": "EACCES",
    "open the terminal's side": "EACCES",
    "write the owner's memory": "EACCES",
  };
  const { tools: _, ...common } = expectations(fence);
  for (const [name, what] of Object.entries({ ...common, ...own })) {
    test(`${name}: ${what}`, () => {
      expect(lines.get(name)).toBe(what);
    });
  }

  test("sees no other home, and no tool that its agent may not use", () => {
    expect(lines.get("homes")).toBe(`['agent', '${world.uid}']`);
    expect(lines.get("tools")).toContain("'fs.read'");
  });
});

test.skipIf(!existsSync(bash))(
  "a shell in a terminal stops, continues and interrupts its jobs",
  async () => {
    const command = [bash, "--norc", "--noprofile", "-i"];
    await start(world, { session: "jobs", command });
    const person = new PlainClient(world, "attach", "jobs");
    const answers = (what: string, text: string) =>
      until(`${what} in ${JSON.stringify(person.text)}`, () => person.text.includes(text));
    const at = "PS1='@ '; unset HISTFILE\r";
    person.type(at);
    await answers("a prompt", "2004h@ ");
    expect(person.text).not.toContain("no job control");
    person.type("/usr/bin/sleep 606\r");
    await until("the sleeper", () => sleeper("606") === "S");
    person.type("\x1a");
    await answers("a stop", "Stopped");
    expect(sleeper("606")).toBe("T");
    person.type("fg\r");
    await until("the sleeper again", () => sleeper("606") === "S");
    person.type("\x03");
    await until("its end", () => sleeper("606") === undefined);
    person.type('(exit 3); echo "<status=$?>"\r');
    await answers("the next command", "<status=3>");
    person.end();
    await stop(world, "jobs");
  },
  30_000,
);

/** Its state by the kernel: S sleeps, T is stopped. */
function sleeper(seconds: string): string | undefined {
  const [pid] = sleepers(world, seconds);
  if (pid === undefined) return undefined;
  return /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1];
}
