import { describe, expect, test } from "bun:test";
import {
  asciicastLines,
  commandsOf,
  encodeRecord,
  parseRecord,
  type TerminalDraft,
  type TerminalRecord,
} from "./mod.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

function records(drafts: readonly TerminalDraft[]): TerminalRecord[] {
  return drafts.map((draft, index) => {
    const result = parseRecord(encodeRecord(draft, index + 1).trimEnd());
    if (!result.ok) throw new Error("a draft makes a record");
    return result.record;
  });
}

const output = (at: number, data: Uint8Array | string): TerminalDraft => ({
  ...{ type: "pty.output", at },
  data: typeof data === "string" ? bytes(data) : data,
});

describe("asciicast", () => {
  test("has the first size in its header, later ones as events, and whole characters", () => {
    const face = bytes("🙂");
    const lines = asciicastLines(
      records([
        { type: "pty.resize", at: 1000, cols: 100, rows: 30 },
        output(1250, Uint8Array.of(0x61, ...face.subarray(0, 2))),
        output(1500, face.subarray(2)),
        { type: "pty.resize", at: 2000, cols: 80, rows: 24 },
        output(1900, face.subarray(0, 1)),
        { type: "gap", at: 2500, bytes: 7, reason: "overrun" },
        { type: "process.exit", at: 3000, status: 7, signal: 0 },
      ]),
      { title: "work" },
    );
    expect([...lines].map((line) => JSON.parse(line))).toEqual([
      { version: 2, width: 100, height: 30, timestamp: 1, title: "work" },
      [0.25, "o", "a"],
      [0.5, "o", "🙂"],
      [1, "r", "80x24"],
      [1.5, "o", "\ufffd"],
      [1.5, "m", "7 bytes are missing"],
      [2, "m", "exit status 7"],
    ]);
  });

  test("of nothing is a header alone", () => {
    expect([...asciicastLines([])]).toEqual([
      '{"version":2,"width":80,"height":24,"timestamp":0}\n',
    ]);
  });
});

describe("commands of a recording", () => {
  const whole =
    "motd\x1b]133;A\x07$ \x1b]133;B\x07ls -l\r\n\x1b]133;C\x07one\r\ntwo\r\n\x1b]133;D;0\x07" +
    "\x1b]133;A\x1b\\$ \x1b]133;B\x1b\\false\x1b]133;C;cmdline_url=false%20%3b\x1b\\" +
    "\x1b[1mno\x1b]133;D;1;aid=3\x1b\\\x1b]133;A\x07$ \x1b]133;B\x07run\x1b]133;C\x07still";
  const expected = [
    { input: "ls -l", output: "one\r\ntwo\r\n", status: 0 },
    { input: "false ;", output: "\x1b[1mno", status: 1 },
    { input: "run", output: "still", status: undefined },
  ];
  const shown = (list: ReturnType<typeof commandsOf>) =>
    list.map(({ input, output: out, status }) => ({
      ...{ input, status, output: new TextDecoder().decode(out) },
    }));

  test("are cut at their marks, wherever the records are cut", () => {
    for (let size = 1; size <= whole.length; size++) {
      const drafts: TerminalDraft[] = [];
      for (let at = 0; at < whole.length; at += size) {
        drafts.push(output(at, whole.slice(at, at + size)));
      }
      expect(shown(commandsOf(records(drafts)))).toEqual(expected);
    }
    expect(shown(commandsOf(records([output(0, whole)]), { last: 1 }))).toEqual(expected.slice(2));
  });

  test("keep the two ends of an output that is too long, and say what is missing", () => {
    const drafts = [output(0, "\x1b]133;C\x07begin")];
    for (let count = 0; count < 12; count++) {
      drafts.push(output(0, new Uint8Array(1024 * 1024).fill(0x2e)));
    }
    drafts.push(output(0, "end\x1b]133;D;0\x07"));
    const [command] = commandsOf(records(drafts));
    const text = new TextDecoder().decode(command?.output);
    expect([text.slice(0, 6), text.slice(-4)]).toEqual(["begin.", ".end"]);
    expect(text.length + (command?.dropped ?? 0)).toBe(12 * 1024 * 1024 + 8);
    expect(text.length).toBeLessThan(10 * 1024 * 1024);
  });
});
