import { expect, test } from "bun:test";
import { createReference } from "../../testdata/terminal/reference.ts";
import { faultsAgainst } from "../../testdata/terminal/replay.ts";
import { createScreen, type Screen } from "./mod.ts";

const text = (snapshot: { bytes: Uint8Array }) => Buffer.from(snapshot.bytes).toString();

function open(cols: number, rows: number): Screen {
  return createScreen({ cols, rows });
}

/** A screen whose emulator is loaded. */
async function ready(cols: number, rows: number): Promise<Screen> {
  const screen = open(cols, rows);
  await screen.snapshot();
  return screen;
}

test("a snapshot covers what was pushed before it and nothing after, also while loading", async () => {
  const screen = open(20, 3);
  screen.push(Buffer.from("one "));
  const first = screen.snapshot();
  screen.push(Buffer.from("two "));
  screen.resize(10, 4);
  screen.push(Buffer.from("three"));
  const second = screen.snapshot();
  screen.push(Buffer.from("four"));
  const whole = createReference(20, 3);
  whole.write(Buffer.from("one "));
  expect(faultsAgainst(await first, whole)).toEqual([]);
  whole.write(Buffer.from("two "));
  whole.resize(10, 4);
  whole.write(Buffer.from("three"));
  expect(faultsAgainst(await second, whole)).toEqual([]);
  screen.close();
});

test("a snapshot of a loaded screen is as strict", async () => {
  const screen = await ready(20, 3);
  screen.push(Buffer.from("before"));
  const taken = screen.snapshot();
  screen.push(Buffer.from("after"));
  expect(text(await taken)).toContain("before");
  expect(text(await taken)).not.toContain("after");
  screen.close();
});

test("a screen that nothing was written to is an empty one", async () => {
  const screen = open(30, 5);
  const snapshot = await screen.snapshot();
  expect(faultsAgainst(snapshot, createReference(30, 5))).toEqual([]);
  expect(snapshot.approximate).toBe(false);
  screen.close();
});

test("bytes are the caller's again as soon as they were pushed", async () => {
  const screen = open(20, 2);
  const bytes = Buffer.from("kept");
  screen.push(bytes);
  bytes.fill(0x21);
  expect(text(await screen.snapshot())).toContain("kept");
  bytes.write("more");
  screen.push(bytes);
  bytes.fill(0x21);
  expect(text(await screen.snapshot())).toContain("keptmore");
  screen.close();
});

test("a size is held to what a screen may have", async () => {
  const screen = open(0, 0);
  screen.push(Buffer.from("x"));
  const least = await screen.snapshot();
  expect([least.cols, least.rows]).toEqual([2, 1]);
  screen.resize(60_000, 60_000);
  const most = await screen.snapshot();
  expect([most.cols, most.rows]).toEqual([1_000, 150]);
  screen.resize(60, 60_000);
  const tall = await screen.snapshot();
  expect([tall.cols, tall.rows]).toEqual([60, 500]);
  screen.close();
});

test("queries are answered only while the screen answers, and those of before are nobody's", async () => {
  const answers: string[] = [];
  const screen = createScreen({
    cols: 20,
    rows: 4,
    answer: (bytes) => answers.push(Buffer.from(bytes).toString()),
  });
  screen.push(Buffer.from("\x1b[6n"));
  await screen.snapshot();
  expect(answers).toEqual([]);
  screen.push(Buffer.from("\x1b[c"));
  screen.answering = true;
  screen.push(Buffer.from("ab\x1b[6n\x1b[5n"));
  await screen.snapshot();
  expect(answers).toEqual(["\x1b[1;3R", "\x1b[0n"]);
  screen.push(Buffer.from("\x1b[6n"));
  screen.answering = false;
  await screen.snapshot();
  expect(answers).toEqual(["\x1b[1;3R", "\x1b[0n", "\x1b[1;3R"]);
  screen.close();
});

test("queries are answered without anybody asking for a snapshot", async () => {
  const answered = Promise.withResolvers<string>();
  const screen = createScreen({
    cols: 20,
    rows: 4,
    answer: (bytes) => answered.resolve(Buffer.from(bytes).toString()),
  });
  screen.answering = true;
  screen.push(Buffer.from("\x1b[6n"));
  expect(await answered.promise).toBe("\x1b[1;1R");
  screen.close();
});

test("a terminal in any state is brought to the screen's", async () => {
  const screen = open(20, 5);
  screen.push(Buffer.from("plain\r\n\x1b[32mgreen"));
  const snapshot = await screen.snapshot();
  const wanted = createReference(20, 5);
  wanted.write(Buffer.from("plain\r\n\x1b[32mgreen"));
  const dirty = createReference(20, 5);
  dirty.write(
    Buffer.from(
      '\x1b[?1049h\x1b(0\x0e\x1b)0junk\x1b[2;3r\x1b[?6h\x1b[4h\x1b[20h\x1b[?7l\x1b[7;41m\x1b[?1;1003;1006;1004;2004;2026h\x1b=\x1b[?25l\x1b[5 q\x1b[1"q\x1b]8;;http://x\x07',
    ),
  );
  dirty.write(snapshot.bytes);
  expect(dirty.state()).toEqual(wanted.state());
  screen.close();
});

test("what the emulator does not keep is told to a joiner all the same", async () => {
  const screen = open(20, 5);
  const told = [
    "\x1b]4;1;#aa0011\x1b\\",
    "\x1b]11;rgb:10/20/30\x1b\\",
    "\x1b[?1007h",
    "\x1b[>4;2m",
    "\x1b[>5u",
  ];
  screen.push(Buffer.from(told.join("")));
  screen.push(
    Buffer.from("\x1b]12;red\x1b\\\x1b]112\x1b\\\x1b[>1u\x1b[<u\x1b[?5h\x1b[?5l\x1b]10;?\x1b\\"),
  );
  const shown = text(await screen.snapshot());
  for (const sequence of told) expect(shown).toContain(sequence);
  for (const gone of ["\x1b]12", "\x1b[>1u", "\x1b[?5h", "\x1b]10"])
    expect(shown).not.toContain(gone);
  screen.close();
});

test("a closed screen takes nothing more and gives nothing", async () => {
  const screen = await ready(20, 5);
  screen.close();
  screen.push(Buffer.from("x"));
  screen.resize(10, 10);
  await expect(screen.snapshot()).rejects.toThrow("closed");
});
