import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { LineDecoder, type LineResult } from "./mod.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

function decodeAll(bytesMax: number, chunks: readonly Uint8Array[]): LineResult[] {
  const decoder = new LineDecoder(bytesMax);
  return [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()];
}

/** Cuts `whole` at the given places, which may repeat or fall anywhere. */
function cut(whole: Uint8Array, places: readonly number[]): Uint8Array[] {
  const points = [0, ...places.map((at) => at % (whole.length + 1)), whole.length].sort(
    (a, b) => a - b,
  );
  return points.slice(1).map((end, index) => whole.subarray(points[index], end));
}

const line = (text: string): LineResult => ({ ok: true, line: text });

describe("LineDecoder", () => {
  test("gives the lines of one chunk in order, empty ones too", () => {
    expect(decodeAll(16, [bytes("a\n\nbc\n")])).toEqual([line("a"), line(""), line("bc")]);
  });

  test("nothing in, nothing out", () => {
    expect(decodeAll(16, [])).toEqual([]);
    expect(decodeAll(16, [new Uint8Array(0)])).toEqual([]);
  });

  test("keeps CR, NUL and a byte order mark as parts of the line", () => {
    expect(decodeAll(16, [bytes("\ufeffa\r\0\n")])).toEqual([line("\ufeffa\r\0")]);
  });

  test("a line of exactly the bound with its LF passes, one byte more does not", () => {
    expect(decodeAll(4, [bytes("abc\n")])).toEqual([line("abc")]);
    const refused = { ok: false, code: "EMSGSIZE", reason: "line is longer than 4 bytes" } as const;
    expect(decodeAll(4, [bytes("abcd\n")])).toEqual([refused]);
  });

  test("refuses before the LF arrives, as soon as the line cannot fit", () => {
    const decoder = new LineDecoder(4);
    expect(decoder.push(bytes("abc"))).toEqual([]);
    expect(decoder.push(bytes("d"))).toMatchObject([{ ok: false, code: "EMSGSIZE" }]);
  });

  test("1 MiB passes and 1 MiB + 1 is EMSGSIZE", () => {
    const max = 1024 * 1024;
    const [fits] = decodeAll(max, [bytes(`${"x".repeat(max - 1)}\n`)]);
    expect(fits).toEqual(line("x".repeat(max - 1)));
    expect(decodeAll(max, [bytes(`${"x".repeat(max)}\n`)])).toMatchObject([{ code: "EMSGSIZE" }]);
  });

  test("an unfinished last line is EINVAL at the end and not before", () => {
    const decoder = new LineDecoder(16);
    expect(decoder.push(bytes("a\nhalf"))).toEqual([line("a")]);
    expect(decoder.end()).toEqual([
      { ok: false, code: "EINVAL", reason: "last line does not end in a newline" },
    ]);
    expect(decoder.end()).toEqual([]);
  });

  test("invalid UTF-8 is EINVAL and stops the decoder for good", () => {
    const decoder = new LineDecoder(16);
    const chunk = new Uint8Array([0x61, 0x0a, 0xc3, 0x28, 0x0a, 0x62, 0x0a]);
    expect(decoder.push(chunk)).toEqual([
      line("a"),
      { ok: false, code: "EINVAL", reason: "line is not valid UTF-8" },
    ]);
    expect(decoder.push(bytes("c\n"))).toEqual([]);
    expect(decoder.end()).toEqual([]);
  });

  test("overlong and surrogate encodings are not UTF-8", () => {
    for (const wrong of [
      [0xc0, 0x80],
      [0xed, 0xa0, 0x80],
      [0xf5, 0x80, 0x80, 0x80],
      [0xe2, 0x82],
    ]) {
      expect(decodeAll(16, [new Uint8Array([...wrong, 0x0a])])).toMatchObject([{ code: "EINVAL" }]);
    }
  });

  test("a bound that is no positive whole number is a bug", () => {
    for (const bound of [0, -1, 1.5, Number.NaN]) {
      expect(() => new LineDecoder(bound)).toThrow(RangeError);
    }
  });

  test("a million single bytes cost linear time and the memory of one line", () => {
    const decoder = new LineDecoder(1024 * 1024);
    const one = bytes("x");
    for (let count = 0; count < 1_000_000; count++) decoder.push(one);
    expect(decoder.push(bytes("\n"))).toEqual([line("x".repeat(1_000_000))]);
  });

  test("any chunking of any text gives the text's lines", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "binary" }).map((text) => text.replaceAll("\n", " "))),
        fc.array(fc.nat()),
        (lines, places) => {
          const whole = bytes(lines.map((text) => `${text}\n`).join(""));
          expect(decodeAll(1 << 20, cut(whole, places))).toEqual(lines.map(line));
        },
      ),
    );
  });

  test("any chunking of any bytes gives the same results as one chunk", () => {
    const noise = fc.array(
      fc.oneof(fc.constantFrom(0x0a, 0x0d, 0x61, 0xc3, 0xa4), fc.integer({ min: 0, max: 255 })),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(noise, fc.array(fc.nat()), fc.integer({ min: 1, max: 20 }), (raw, at, max) => {
        const whole = new Uint8Array(raw);
        const results = decodeAll(max, cut(whole, at));
        expect(results).toEqual(decodeAll(max, [whole]));
        for (const result of results) {
          if (result.ok) expect(bytes(result.line).length).toBeLessThan(max);
        }
        expect(results.slice(0, -1).every((result) => result.ok)).toBe(true);
      }),
    );
  });
});
