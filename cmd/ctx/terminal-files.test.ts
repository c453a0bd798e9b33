// What a terminal that has ended left, by every command that reads it.

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { chownSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { encodeRecord, type TerminalDraft } from "../../internal/terminal-wire/mod.ts";
import { ownerUid, Place } from "../../testdata/cli/program.ts";

setDefaultTimeout(60_000);

const place = new Place();
afterAll(() => place.remove());

const at = Date.parse("2026-01-02T03:04:05.000Z");
const output = (text: string, later: number): TerminalDraft => ({
  type: "pty.output",
  at: at + later,
  data: new TextEncoder().encode(text),
});
const mark = (text: string) => `\x1b]133;${text}\x1b\\`;
const command = (line: string, printed: string, status: number) =>
  `${mark("A")}$ ${mark("B")}${line}\r\n${mark("C")}${printed}${mark(`D;${status}`)}`;

const drafts: TerminalDraft[] = [
  { type: "pty.resize", at, cols: 100, rows: 30 },
  output(command("fs.read a.txt", "\x1b[31mred\x1b[0m text\r\n", 0), 100),
  output(command("evil", "10%\r100%\r\n\x1b]0;title\x07\x1b[2Jdone \x9b2J", 7), 1500),
  { type: "process.exit", at: at + 2000, status: 7, signal: 0 },
];

/** Files of a terminal of agent coder, as they stand when it has ended. */
function leave(session: string, files: Readonly<Record<string, string>>): void {
  const home = join(place.source, "home", String(ownerUid), "agent/coder");
  const folder = join(home, "session", session, "terminal/main");
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const made = [...Object.keys(files).map((name) => join(folder, name)), folder];
  for (const path of made) chownSync(path, ownerUid, ownerUid);
  for (let path = dirname(folder); path !== home; path = dirname(path)) {
    chownSync(path, ownerUid, ownerUid);
  }
}

beforeAll(async () => {
  await place.bootstrap();
  const lines = drafts.map((draft, index) => encodeRecord(draft, index + 1));
  leave("old", {
    state: "exited\n",
    status: "7\n",
    owner: `${ownerUid}\n`,
    cwd: "/workspace\n",
    "meta.json": `${JSON.stringify({ workspace: "/srv/\x1b[2Jx", started_at: "2026-01-02T03:04:05.000Z", ended_at: "2026-01-02T03:04:07.000Z", signal: null })}\n`,
    // A record of a later version, the older segment first, and a line that was cut.
    "events.jsonl.1": `${lines[0]}{"type":"later","seq":9,"ts":"2026-01-02T03:04:05.000Z"}\n`,
    "events.jsonl": `${lines.slice(1).join("")}{"type":"pty.out`,
  });
});

const json = async (...argv: string[]) => {
  const { exit, out, err } = await place.ctx(...argv, "--json");
  expect([exit, err]).toEqual([0, ""]);
  return out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
};

test("list and status tell how it ended, by its agent or its id", async () => {
  const facts = {
    terminal: "terminal-coder-old",
    agent: "coder",
    session: "old",
    state: "exited",
    status: 7,
    signal: null,
    cwd: "/workspace",
    workspace: "/srv/\x1b[2Jx",
    supervisor: null,
    unit: null,
    socket: null,
    started_at: "2026-01-02T03:04:05.000Z",
    ended_at: "2026-01-02T03:04:07.000Z",
  };
  expect(await json("terminal", "list")).toEqual([facts]);
  const live = { ...facts, reachable: false, cols: null, rows: null };
  expect(await json("terminal", "status", "terminal-coder-old")).toEqual([live]);
  const text = await place.ctx("terminal", "status", "coder", "--session", "old");
  expect(text.out).toContain("state      exited 7\n");
  expect(text.out).toContain("workspace  /srv/\\x1b[2Jx\n");
});

test("attach and watch say with which status it ended", async () => {
  const watch = await place.ctx("terminal", "watch", "terminal-coder-old");
  expect(watch.exit).toBe(69);
  expect(watch.err).toContain('agent "coder", session "old" has ended with status 7 [EHOSTDOWN]');
});

test("output gives the last commands for copying, and nothing that a terminal obeys", async () => {
  const last = (...more: string[]) =>
    place.ctx("terminal", "output", "terminal-coder-old", ...more);
  expect((await last()).out).toBe("$ evil\n100%\ndone \\x9b2J\n[status 7]\n");
  expect((await last("--last", "2", "--plain")).out).toBe("red text\n100%\ndone \\x9b2J\n");
  expect(await json("terminal", "output", "terminal-coder-old", "--last", "9")).toMatchObject([
    { input: "fs.read a.txt", output: "red text\n", status: 0 },
    { input: "evil", status: 7 },
  ]);
  expect((await last("--last", "0")).err).toContain("--last needs a whole number");
});

test("export writes an asciicast with header, events and times", async () => {
  const file = join(place.work, "old.cast");
  const wrote = await place.ctx("terminal", "export", "terminal-coder-old", "--output", file);
  expect([wrote.exit, wrote.err]).toEqual([0, `wrote ${file}\n`]);
  const lines = (await Bun.file(file).text())
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines[0]).toMatchObject({
    version: 2,
    width: 100,
    height: 30,
    title: "terminal-coder-old",
  });
  expect(lines.slice(1).map(([time, kind]) => [time, kind])).toEqual([
    [0.1, "o"],
    [1.5, "o"],
    [2, "m"],
  ]);
  const again = await place.ctx("terminal", "export", "terminal-coder-old", "--output", file);
  expect([again.exit, again.err]).toEqual([1, expect.stringContaining("it exists [EEXIST]")]);
  const { out } = await place.ctx("terminal", "export", "terminal-coder-old");
  expect(
    out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual(lines);
});

test.each(["mkfifo", "mkdir", "ln -s /etc/passwd"])(
  "a history that `%s` has put something else in the place of is not told as an empty one",
  async (made) => {
    const session = `odd-${made.split(" ")[0]}`;
    leave(session, { state: "exited\n", status: "0\n", owner: `${ownerUid}\n` });
    const home = join(place.source, "home", String(ownerUid), "agent/coder");
    const path = join(home, "session", session, "terminal/main/events.jsonl");
    Bun.spawnSync(["/bin/sh", "-c", `${made} ${path}; chown -h ${ownerUid} ${path}`]);
    for (const word of ["output", "export"]) {
      const { exit, out, err } = await place.ctx("terminal", word, `terminal-coder-${session}`);
      expect([exit === 0, out]).toEqual([false, ""]);
      expect(err).toContain('cannot read the history "events.jsonl": ');
      expect(err).toContain("hint: move it away");
    }
  },
);

test.each([
  [
    "a session without one",
    ["status", "coder", "--session", "none"],
    "never had a terminal [ENOENT]",
  ],
  [
    "an id that names none",
    ["export", "terminal-nobody-x"],
    'no terminal "terminal-nobody-x" [ENOENT]',
  ],
  ["an id with a session", ["status", "terminal-coder-old", "--session", "x"], "already [EINVAL]"],
  ["an agent that is not there", ["output", "nobody"], "[ENOENT]"],
])("refuses %s and says what to do", async (_name, argv, message) => {
  const { exit, err } = await place.ctx("terminal", ...argv);
  expect(exit).not.toBe(0);
  expect(err).toContain(message);
  expect(err).toContain("hint: ");
});
