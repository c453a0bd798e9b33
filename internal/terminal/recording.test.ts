import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPath, pipe } from "../os/mod.ts";
import { DraftDecoder, type TerminalDraft, type TerminalRecord } from "../terminal-wire/mod.ts";
import { openRecording, RecordStream, recordQueueBytesMax } from "./mod.ts";

let base: string;
let folder: number;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "recording-"));
  folder = openPath(base, "folder");
});
afterEach(() => {
  closeSync(folder);
  rmSync(base, { recursive: true, force: true });
});

const name = "events.jsonl";
const output = (length: number, at = 0): TerminalDraft => ({
  ...{ type: "pty.output", at, data: new Uint8Array(length).fill(0x61) },
});

function records(file: string): TerminalRecord[] {
  const text = readFileSync(join(base, file), "utf8");
  expect(text.endsWith("\n")).toBe(true);
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as TerminalRecord);
}

const outputIn = (list: readonly TerminalRecord[]) =>
  list.reduce((sum, record) => {
    if (record.type === "pty.output") return sum + Buffer.from(record.data, "base64").length;
    return record.type === "gap" ? sum + record.bytes : sum;
  }, 0);

describe("a recording", () => {
  test("keeps one older segment and tells what is gone, numbers and size going on", async () => {
    const recording = openRecording({ folder, name, bytesMax: 4000 });
    recording.push({ type: "pty.resize", at: 0, cols: 90, rows: 30 });
    let sum = 0;
    for (let length = 1; length <= 200; length++) {
      recording.push(output(length));
      sum += length;
    }
    recording.push({ type: "process.exit", at: 0, status: 0, signal: 0 });
    await recording.close();
    const [older, newer] = [records(`${name}.1`), records(name)];
    const all = [...older, ...newer];
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => (older[0]?.seq ?? 0) + index));
    expect(newer.slice(0, 2)).toMatchObject([
      { type: "gap", reason: "rotated" },
      { type: "pty.resize", cols: 90, rows: 30 },
    ]);
    // Each segment tells what went before it; together with the segments nothing is unaccounted for.
    expect(outputIn(older.filter(({ type }) => type !== "gap")) + outputIn(newer)).toBeLessThan(
      sum,
    );
    expect(existsSync(join(base, `${name}.2`))).toBe(false);
    for (const file of [name, `${name}.1`]) {
      expect(readFileSync(join(base, file)).length).toBeLessThanOrEqual(4000);
    }
  });

  test("counts what goes with a segment to the byte, also after it was opened again", async () => {
    for (const again of [false, true]) {
      let recording = openRecording({ folder, name, bytesMax: 1000 });
      for (const length of [300, 301, 302]) recording.push(output(length));
      if (again) {
        await recording.close();
        recording = openRecording({ folder, name, bytesMax: 1000 });
      }
      for (const length of [303, 304]) recording.push(output(length));
      await recording.close();
      const gap = records(name).find(({ type }) => type === "gap") as { bytes: number } | undefined;
      // Two of these fit a segment, so the first two are gone when the fifth is written.
      expect(gap?.bytes).toBe(601);
      for (const file of [name, `${name}.1`]) rmSync(join(base, file));
    }
  });

  test("goes on behind its last whole record, wherever it was cut", async () => {
    const whole = openRecording({ folder, name });
    for (const length of [10, 20, 30]) whole.push(output(length));
    await whole.close();
    const path = join(base, name);
    const full = readFileSync(path);
    const lines = full.toString().trimEnd().split("\n");
    const ends = lines.map((_, index) => lines.slice(0, index + 1).join("\n").length + 1);
    for (let size = 0; size <= full.length; size++) {
      writeFileSync(path, full);
      truncateSync(path, size);
      const recording = openRecording({ folder, name });
      recording.push(output(1));
      await recording.close();
      const kept = ends.filter((end) => end <= size).length;
      expect(records(name).map(({ seq }) => seq)).toEqual(
        Array.from({ length: kept + 1 }, (_, index) => index + 1),
      );
    }
    writeFileSync(path, full);
    appendFileSync(path, '{"type":"pty.output","seq":"4"}\n\n{"half\n');
    const recording = openRecording({ folder, name });
    recording.push(output(1));
    await recording.close();
    expect(records(name).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
  });

  test("takes its number from the older segment when there is no newer one", async () => {
    writeFileSync(join(base, `${name}.1`), `{"type":"gap","seq":41,"ts":"","bytes":0}\n`);
    const recording = openRecording({ folder, name });
    recording.push(output(1));
    await recording.close();
    expect(records(name)).toMatchObject([{ seq: 42 }]);
  });

  test("that could not begin a new segment does so with the next output that can", async () => {
    const recording = openRecording({ folder, name, bytesMax: 4000 });
    const hindrance = join(base, `${name}.next`);
    mkdirSync(hindrance);
    for (let index = 0; index < 40; index++) recording.push(output(200));
    expect(existsSync(join(base, `${name}.1`))).toBe(false);
    rmSync(hindrance, { recursive: true });
    recording.push(output(200));
    await recording.close();
    const all = [...records(`${name}.1`), ...records(name)];
    expect(outputIn(all)).toBe(41 * 200);
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => index + 1));
  });

  test("of a disk that is full goes on when there is room again, and tells what is missing", async () => {
    const small = join(base, "small");
    mkdirSync(small);
    const mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", small];
    if (!Bun.spawnSync(mount).success) {
      return console.log("SKIP a full disk: mounting one needs root");
    }
    const disk = openPath(small, "folder");
    try {
      const recording = openRecording({ folder: disk, name });
      recording.push(output(5));
      for (const length of [60_000, 61_000]) recording.push(output(length));
      recording.push(output(6));
      await recording.close();
      expect(records(join("small", name))).toMatchObject([
        { type: "pty.output" },
        { type: "gap", bytes: 60_000, reason: "unwritten" },
        { type: "gap", bytes: 61_000, reason: "unwritten" },
        { type: "pty.output" },
      ]);
    } finally {
      closeSync(disk);
      Bun.spawnSync(["umount", small]);
    }
  });
});

test("a log whose end is millions of blank lines is continued behind its last record at once", async () => {
  const first = openRecording({ folder, name });
  first.push(output(3));
  await first.close();
  appendFileSync(join(base, name), "\n".repeat(3_000_000));
  const second = openRecording({ folder, name });
  second.push(output(4));
  await second.close();
  expect(records(name).map(({ seq }) => seq)).toEqual([1, 2]);
});

describe("a record stream", () => {
  test("leaves output out past its bound, tells how much, and keeps everything else", async () => {
    const [reading, writing] = pipe();
    const stream = new RecordStream(writing);
    const piece = 256 * 1024;
    const count = recordQueueBytesMax / piece + 20;
    for (let index = 0; index < count; index++) stream.push(output(piece, index));
    stream.push({ type: "process.exit", at: 9, status: 3, signal: 0 });
    const closed = stream.close().then(() => closeSync(writing));
    const decoder = new DraftDecoder();
    const drafts: TerminalDraft[] = [];
    for await (const chunk of Bun.file(reading).stream()) {
      for (const result of decoder.push(chunk)) if (result.ok) drafts.push(result.draft);
    }
    await closed;
    closeSync(reading);
    const kept = drafts.filter(({ type }) => type === "pty.output").length;
    expect(drafts.slice(kept)).toEqual([
      { type: "gap", at: kept, bytes: (count - kept) * piece, reason: "overrun" },
      { type: "process.exit", at: 9, status: 3, signal: 0 },
    ]);
    expect(kept * piece).toBeGreaterThanOrEqual(recordQueueBytesMax - 2 * piece);
  });

  test("whose reader is gone is quiet", async () => {
    const [reading, writing] = pipe();
    closeSync(reading);
    const stream = new RecordStream(writing);
    for (let index = 0; index < 5; index++) stream.push(output(10));
    expect(await stream.close()).toBeUndefined();
    closeSync(writing);
  });
});

test.each(["mkfifo", "mkdir", "ln -s /etc/passwd"])(
  "a log is neither continued nor cut where `%s` has made something else of its name",
  (command) => {
    const place = mkdtempSync(join(tmpdir(), "recording-"));
    const folder = openPath(place, "folder");
    try {
      Bun.spawnSync(["/bin/sh", "-c", `${command} ${place}/log`]);
      expect(() => openRecording({ folder, name: "log" })).toThrow(
        /no regular file|Is a directory|symbolic links/,
      );
    } finally {
      closeSync(folder);
      rmSync(place, { recursive: true });
    }
  },
);
