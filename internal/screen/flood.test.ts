// More output than anybody could follow, and output made to be expensive.

import { expect, test } from "bun:test";
import { createReference } from "../../testdata/terminal/reference.ts";
import { faultsAgainst } from "../../testdata/terminal/replay.ts";
import { backlogBytesMax, marksInCellMax } from "./limits.ts";
import { createScreen, type Screen } from "./mod.ts";

const cols = 80;
const rows = 24;

async function ready(): Promise<Screen> {
  const screen = createScreen({ cols, rows });
  await screen.snapshot();
  return screen;
}

/** Lines of different lengths and colours, `count` bytes of them. */
function lines(count: number): Buffer {
  const parts: string[] = [];
  for (let size = 0, i = 0; size < count; i++) {
    const line = `\x1b[3${i % 8}mline ${i}\x1b[m ${"=".repeat(i % 90)}\r\n`;
    parts.push(line);
    size += line.length;
  }
  return Buffer.from(parts.join(""));
}

test("of a flood of lines the newest are shown exactly, with the modes that were set before", async () => {
  const before = Buffer.from("\x1b[?2004h\x1b[?1h\x1b[?1002;1006h\x1b[?25l\x1b[?2004l\x1b[?2004h");
  const flood = lines(6 * backlogBytesMax);
  const screen = await ready();
  const whole = createReference(cols, rows);
  screen.push(before);
  for (let at = 0; at < flood.length; at += 30_000) screen.push(flood.subarray(at, at + 30_000));
  whole.write(before);
  whole.write(flood);
  const snapshot = await screen.snapshot();
  expect(faultsAgainst(snapshot, whole)).toEqual([]);
  expect(snapshot.approximate).toBe(false);
  screen.close();
});

test("one push that is a flood by itself is no different", async () => {
  const flood = Buffer.concat([Buffer.from("\x1b[?1049h\x1b[?1h"), lines(7 * backlogBytesMax)]);
  const screen = await ready();
  const whole = createReference(cols, rows);
  screen.push(flood);
  whole.write(flood);
  expect(faultsAgainst(await screen.snapshot(), whole)).toEqual([]);
  screen.close();
});

test("a reset in what is skipped takes back the modes before it", async () => {
  const screen = await ready();
  const whole = createReference(cols, rows);
  for (const part of [
    Buffer.from("\x1b[?1h\x1b[?2004hx\x1bc\x1b[?1004h"),
    lines(4 * backlogBytesMax),
  ]) {
    screen.push(part);
    whole.write(part);
  }
  expect(faultsAgainst(await screen.snapshot(), whole)).toEqual([]);
  screen.close();
});

test("a mode that is cut by the end of a push is found", async () => {
  const screen = await ready();
  const flood = lines(2 * backlogBytesMax);
  screen.push(flood);
  screen.push(Buffer.from("\r\n\x1b[?20"));
  screen.push(Buffer.from("04h"));
  for (let i = 0; i < 4; i++) screen.push(flood);
  const shown = Buffer.from((await screen.snapshot()).bytes).toString();
  expect(shown).toMatch(/\x1b\[\?2004;25h/);
  screen.close();
});

test("a picture that was skipped into is a guess until it is drawn anew", async () => {
  const screen = await ready();
  const frames = Buffer.from(
    Array.from({ length: 60_000 }, (_, i) => `\x1b[${1 + (i % 5)};${1 + (i % 70)}H${i}`).join(""),
  );
  expect(frames.length).toBeGreaterThan(2 * backlogBytesMax);
  screen.push(Buffer.from("\x1b[20;1Hstays\x1b[?1049h"));
  screen.push(frames);
  expect((await screen.snapshot()).approximate).toBe(true);
  screen.push(Buffer.from("\x1b[1;1Hx"));
  expect((await screen.snapshot()).approximate).toBe(true);
  // The other screen, behind this one, is a guess still.
  screen.push(Buffer.from("\x1b[2J\x1b[H"));
  expect((await screen.snapshot()).approximate).toBe(true);
  screen.push(Buffer.from("\x1b[?1049l\x1b[2J\x1b[Hdone"));
  const snapshot = await screen.snapshot();
  expect(snapshot.approximate).toBe(false);
  screen.close();
});

test("a reset makes a guess certain", async () => {
  const screen = await ready();
  screen.push(Buffer.from("\x1b[1;1Hx".repeat(100_000)));
  expect((await screen.snapshot()).approximate).toBe(true);
  screen.push(Buffer.from("\x1bcnew"));
  const whole = createReference(cols, rows);
  whole.write(Buffer.from("new"));
  const snapshot = await screen.snapshot();
  expect(faultsAgainst(snapshot, whole)).toEqual([]);
  expect(snapshot.approximate).toBe(false);
  screen.close();
});

test("after a flood the screen is followed again without being asked", async () => {
  const answered = Promise.withResolvers<Uint8Array>();
  const screen = createScreen({ cols, rows, answer: (bytes) => answered.resolve(bytes) });
  await screen.snapshot();
  screen.answering = true;
  screen.push(lines(4 * backlogBytesMax));
  screen.push(Buffer.from("\x1b[6n"));
  expect(Buffer.from(await answered.promise).toString()).toMatch(/^\x1b\[\d+;\d+R$/);
  screen.close();
});

test("a number in a sequence buys no time", async () => {
  const screen = await ready();
  const begun = performance.now();
  for (const final of ["S", "T", "L", "M", "b", "I", "Z", "@", "P", "X", " @", " A", "'}", "'~"]) {
    screen.push(Buffer.from(`\x1b[Ha漢b\x1b[2147483647${final}`));
    screen.push(Buffer.from(`x\x1b[2147483647${final}`));
  }
  screen.push(Buffer.from("\x1b[2147483647;2147483647H\x1b[2147483647Cend"));
  await screen.snapshot();
  expect(performance.now() - begun).toBeLessThan(2_000);
  screen.close();
});

test("a repetition past the screen ends where an endless one would", async () => {
  for (const count of [79, 80, 1_999, 2_000, 2_001, 4_567, 65_535]) {
    const screen = await ready();
    const whole = createReference(cols, rows);
    const bytes = Buffer.from(`\x1b[31mz\x1b[${count}b.`);
    screen.push(bytes);
    whole.write(bytes);
    expect(faultsAgainst(await screen.snapshot(), whole)).toEqual([]);
    screen.close();
  }
});

test("a control string without end is neither kept nor shown", async () => {
  for (const introducer of ["\x1b]2;", "\x1bP$q", "\x1b_G", "\x1bX", "\xc2\x9d0;"]) {
    const screen = await ready();
    screen.push(Buffer.from(`seen${introducer}`, "latin1"));
    for (let i = 0; i < 200; i++) {
      screen.push(Buffer.alloc(4_096, "p"));
      // Parsed as it comes, as of a program that writes slowly.
      if (i % 20 === 0) await screen.snapshot();
    }
    const snapshot = await screen.snapshot();
    expect(snapshot.bytes.length).toBeLessThan(100_000);
    const joined = createReference(cols, rows);
    joined.write(snapshot.bytes);
    joined.write(Buffer.from("pppp\x1b\\after"));
    expect(joined.state().normal[0]?.trimEnd()).toBe("seenafter");
    screen.push(Buffer.from("pppp\x1b\\after"));
    const end = createReference(cols, rows);
    end.write((await screen.snapshot()).bytes);
    expect(end.state().normal[0]?.trimEnd()).toBe("seenafter");
    screen.close();
  }
});

test("links and marks without end stay within their bounds", async () => {
  const screen = await ready();
  for (let round = 0; round < 40; round++) {
    let output = "\x1b[H";
    for (let i = 0; i < 100; i++) output += `\x1b]8;;http://host/${round}/${i}\x07l`;
    screen.push(Buffer.from(`${output}\x1b]8;;\x07`));
    await screen.snapshot();
  }
  screen.push(
    Buffer.from(`\x1b[20;1Ha${"\u0301".repeat(2_000)}\x1b[21;1Hb${"\x1b[m\u0301".repeat(500)}`),
  );
  const { bytes } = await screen.snapshot();
  const shown = Buffer.from(bytes).toString();
  expect(shown).toContain("http://host/39/99");
  expect(shown.match(/\u0301+/g)?.every((run) => run.length <= marksInCellMax + 1)).toBe(true);
  expect(bytes.length).toBeLessThan(100_000);
  screen.close();
});
