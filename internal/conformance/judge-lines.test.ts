import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Judgement } from "../abi/mod.ts";
import { judgeBytes, LineJudge } from "./judge-lines.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const echo = (line: string): Judgement => ({ ok: true, kind: line });

function judgeAll(max: number, chunks: readonly Uint8Array[]): string[] {
  const judge = new LineJudge(max, echo);
  return [...chunks.flatMap((chunk) => judge.push(chunk)), ...judge.end()].map(
    ({ number, judgement }) =>
      `${number} ${judgement.ok ? judgement.kind : `${judgement.code} ${judgement.by}`}`,
  );
}

test("goes on after a line that is too long, after invalid UTF-8, and says an unfinished last one", () => {
  const wrong = new Uint8Array([0xff, 0x0a]);
  expect(judgeAll(8, [bytes("a\n0123456789\n"), wrong, bytes("\nb\nc")])).toEqual([
    "1 a",
    "2 EMSGSIZE line",
    "3 EINVAL line",
    "4 ",
    "5 b",
    "6 EINVAL line",
  ]);
});

test("a line that is too long and does not end is said once", () => {
  expect(judgeAll(4, [bytes("0123456789"), bytes("0123456789")])).toEqual(["1 EMSGSIZE line"]);
});

test("any chunking of any bytes gives what one chunk gives", () => {
  const noise = fc.array(fc.oneof(fc.constantFrom(0x0a, 0x61, 0xc3, 0xa4), fc.nat(255)), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(noise, fc.array(fc.nat(60)), fc.integer({ min: 1, max: 20 }), (raw, cuts, max) => {
      const whole = new Uint8Array(raw);
      const points = [0, ...cuts.map((at) => Math.min(at, raw.length)), raw.length].sort(
        (a, b) => a - b,
      );
      const chunks = points.slice(1).map((end, index) => whole.subarray(points[index], end));
      const expected = judgeAll(max, [whole]);
      expect(judgeAll(max, chunks)).toEqual(expected);
      // Every line is judged once: as many as there are LF, and one more for a rest.
      const lines = raw.filter((byte) => byte === 0x0a).length + (raw.at(-1) === 0x0a ? 0 : 1);
      expect(expected.length).toBe(raw.length === 0 ? 0 : lines);
    }),
  );
});

test("an endless line costs no memory", () => {
  const judge = new LineJudge(1024 * 1024, echo);
  const chunk = new Uint8Array(64 * 1024).fill(0x61);
  for (let count = 0; count < 64; count++) judge.push(chunk);
  const before = process.memoryUsage().rss;
  for (let count = 0; count < 16 * 1024; count++) judge.push(chunk);
  expect(process.memoryUsage().rss - before).toBeLessThan(32 * 1024 * 1024);
  expect(judge.push(bytes("\nb\n"))).toEqual([{ number: 2, judgement: { ok: true, kind: "b" } }]);
});

test("the bytes of one line are judged with its bound", () => {
  expect(judgeBytes(4, echo, bytes("abc"))).toEqual({ ok: true, kind: "abc" });
  expect(judgeBytes(4, echo, bytes("abcd"))).toMatchObject({ code: "EMSGSIZE", path: "" });
  expect(judgeBytes(4, echo, new Uint8Array([0xc3]))).toMatchObject({ code: "EINVAL" });
  expect(judgeBytes(4, echo, new Uint8Array())).toEqual({ ok: true, kind: "" });
});
