import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  DraftDecoder,
  encodeDraft,
  encodeRecord,
  encodeTerminalFrame,
  FirstLineReader,
  parseRecord,
  TerminalClientDecoder,
  type TerminalClientFrame,
  type TerminalDraft,
  TerminalFrameDecoder,
  type TerminalServerFrame,
} from "./mod.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const data = fc.uint8Array({ maxLength: 300 });
const u16 = fc.nat(65535);
const size = fc.integer({ min: 1, max: 1000 });

/** The chunks that a stream becomes when it is cut at these places. */
function cut(whole: Uint8Array, places: readonly number[]): Uint8Array[] {
  const marks = [0, ...places.map((place) => place % (whole.length + 1)), whole.length];
  marks.sort((a, b) => a - b);
  return marks.slice(1).map((end, index) => whole.slice(marks[index], end));
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(parts.flatMap((part) => [...part]));
}

describe("the first line", () => {
  const read = (...chunks: string[]) => {
    const reader = new FirstLineReader();
    for (const chunk of chunks) {
      const result = reader.push(bytes(chunk));
      if (result !== undefined) return result;
    }
    return undefined;
  };

  test("is one of four, and what follows it is left alone", () => {
    const rest = bytes("keys\n");
    expect(read("att", "ach\nkeys\n")).toEqual({
      ok: true,
      first: { mode: "attach", framed: false },
      rest,
    });
    expect(read("watch/1\n")).toMatchObject({ ok: true, first: { mode: "watch", framed: true } });
    expect(read("watch")).toBeUndefined();
  });

  test("is refused when it is another one, or longer than any, however it comes", () => {
    for (const line of ["", "watch ", "WATCH", "attach/2", "watch\r", "toString", "\xff"]) {
      expect(read(`${line}\n`)).toMatchObject({ ok: false });
    }
    expect(read("x".repeat(63))).toBeUndefined();
    expect(read("x".repeat(64))).toMatchObject({ ok: false });
    expect(read(...Array.from({ length: 64 }, () => "x"))).toMatchObject({ ok: false });
    expect(read("x".repeat(10_000_000))).toMatchObject({ ok: false });
  });
});

const serverFrame: fc.Arbitrary<TerminalServerFrame> = fc.oneof(
  fc.record({ type: fc.constant("data" as const), data }),
  fc.record({ type: fc.constant("ping" as const), data: fc.uint8Array({ maxLength: 64 }) }),
  fc.record({ type: fc.constant("resize" as const), cols: u16, rows: u16 }),
  fc.record({ type: fc.constant("exit" as const), status: fc.nat(255), signal: fc.nat(64) }),
  fc.record({
    ...{ type: fc.constant("error" as const), code: fc.constant("busy" as const) },
    message: fc.string(),
  }),
  fc.record({
    ...{ type: fc.constant("snapshot" as const), approximate: fc.boolean(), cols: u16, rows: u16 },
    data,
  }),
);

const clientFrame: fc.Arbitrary<TerminalClientFrame> = fc.oneof(
  fc.record({ type: fc.constant("data" as const), data }),
  fc.record({ type: fc.constant("resize" as const), cols: size, rows: size }),
);

describe("frames", () => {
  test("come out as they went in, wherever the stream is cut", () => {
    fc.assert(
      fc.property(fc.array(serverFrame), fc.array(fc.nat()), (frames, places) => {
        const decoder = new TerminalFrameDecoder();
        const chunks = cut(joined(frames.map(encodeTerminalFrame)), places);
        const results = chunks.flatMap((chunk) => decoder.push(chunk));
        expect(results).toEqual(frames.map((frame) => ({ ok: true, frame })));
      }),
    );
    fc.assert(
      fc.property(fc.array(clientFrame), fc.array(fc.nat()), (frames, places) => {
        const decoder = new TerminalClientDecoder();
        const chunks = cut(joined(frames.map(encodeTerminalFrame)), places);
        const results = chunks.flatMap((chunk) => decoder.push(chunk));
        expect(results).toEqual(frames.map((frame) => ({ ok: true, frame })));
      }),
    );
  });

  test("of an unknown type are skipped from a server and refused from a client", () => {
    const odd = joined([Uint8Array.of(0x5a, 0, 0, 0, 1, 7), bytes("D\0\0\0\x01x")]);
    expect(new TerminalFrameDecoder().push(odd)).toEqual([
      { ok: true, frame: { type: "data", data: bytes("x") } },
    ]);
    expect(new TerminalClientDecoder().push(odd)).toMatchObject([{ ok: false }]);
  });

  test("past their bound are refused by their header alone, and nothing comes after", () => {
    const decoder = new TerminalClientDecoder();
    expect(decoder.push(Uint8Array.of(0x44, 0, 1, 0, 1))).toMatchObject([{ ok: false }]);
    expect(decoder.push(encodeTerminalFrame({ type: "data", data: bytes("x") }))).toEqual([]);
    const ping = encodeTerminalFrame({ type: "ping", data: new Uint8Array(65) });
    expect(new TerminalClientDecoder().push(ping)).toMatchObject([{ ok: false }]);
    for (const [cols, rows] of [
      [0, 24],
      [80, 1001],
    ] as const) {
      const frame = encodeTerminalFrame({ type: "resize", cols, rows });
      expect(new TerminalClientDecoder().push(frame)).toMatchObject([{ ok: false }]);
    }
  });

  test("that are anything at all give results and never an exception", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (chunks) => {
        const server = new TerminalFrameDecoder(64);
        const client = new TerminalClientDecoder();
        for (const chunk of chunks) {
          server.push(chunk);
          client.push(chunk);
        }
      }),
    );
  });
});

const at = fc.integer({ min: 0, max: 4e12 });
const draft: fc.Arbitrary<TerminalDraft> = fc.oneof(
  fc.record({ type: fc.constant("pty.output" as const), at, data }),
  fc.record({ type: fc.constant("pty.resize" as const), at, cols: u16, rows: u16 }),
  fc.record({ type: fc.constant("process.exit" as const), at, status: u16, signal: u16 }),
  fc.record({ type: fc.constant("gap" as const), at, bytes: fc.nat(), reason: fc.string() }),
);

describe("records", () => {
  test("pass through the stream as they are, wherever it is cut", () => {
    fc.assert(
      fc.property(fc.array(draft), fc.array(fc.nat()), (drafts, places) => {
        const decoder = new DraftDecoder();
        const chunks = cut(joined(drafts.map(encodeDraft)), places);
        const results = chunks.flatMap((chunk) => decoder.push(chunk));
        expect(results).toEqual(drafts.map((draft) => ({ ok: true, draft })));
      }),
    );
  });

  test("become lines that read back as the same records", () => {
    fc.assert(
      fc.property(draft, fc.integer({ min: 1 }), (one, seq) => {
        const result = parseRecord(encodeRecord(one, seq).trimEnd());
        expect(result).toMatchObject({ ok: true, record: { type: one.type, seq } });
      }),
    );
    const exit: TerminalDraft = { type: "process.exit", at: 0, status: 137, signal: 9 };
    expect(encodeRecord(exit, 3)).toBe(
      '{"type":"process.exit","seq":3,"ts":"1970-01-01T00:00:00.000Z","status":137,"signal":9}\n',
    );
  });

  test("of another version are unknown, of another shape invalid", () => {
    const head = '"seq":1,"ts":"2026-06-22T12:00:00.123Z"';
    expect(parseRecord(`{"type":"pty.title",${head}}`)).toEqual({
      ...{ ok: false, why: "unknown_type", type: "pty.title" },
    });
    for (const line of [
      "",
      "[]",
      "null",
      `{"type":"pty.output",${head}}`,
      `{"type":"pty.output",${head},"data":"a"}`,
      `{"type":"pty.resize",${head},"cols":-1,"rows":2}`,
      `{"type":"gap","seq":0,"ts":"2026-06-22T12:00:00Z","bytes":1,"reason":""}`,
    ]) {
      expect(parseRecord(line)).toMatchObject({ ok: false, why: "invalid" });
    }
  });
});
