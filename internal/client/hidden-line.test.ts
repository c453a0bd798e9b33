import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { HiddenLine } from "./hidden-line.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

function typed(...chunks: string[]): [string, string | undefined] {
  const line = new HiddenLine(64);
  let state = "typing";
  for (const chunk of chunks) if (state === "typing") state = line.push(bytes(chunk));
  const { value } = line;
  return [state, value && new TextDecoder().decode(value)];
}

describe("a hidden line", () => {
  test.each<[string, string[], string, string | undefined]>([
    ["ends with Enter, and what follows is no part of it", ["sesame\rrm -rf"], "entered", "sesame"],
    ["ends with a line feed", ["sesame\n"], "entered", "sesame"],
    ["ends with Ctrl-D", ["sesame\x04"], "entered", "sesame"],
    ["is given up with Ctrl-C", ["sesame\x03\r"], "cancelled", "sesame"],
    ["goes on until one of these", ["ses", "ame"], "typing", "sesame"],
    ["loses its last character to Backspace", ["ab\x7f\x7f\x7fc\x08d\r"], "entered", "d"],
    ["loses a character of several bytes whole", ["aé€😀\x7f\x7f\r"], "entered", "aé"],
    ["is begun anew with Ctrl-U and Ctrl-W", ["wrong\x15good\x17best\r"], "entered", "best"],
    ["takes nothing from keys that move", ["a\x1b[D\x1b[1;5C\x1bOPb\r"], "entered", "ab"],
    ["takes nothing from Ctrl-Z and its like", ["a\x1a\x0c\x00b\r"], "entered", "ab"],
    ["takes nothing from Escape alone", ["\x1b", "sesame\r"], "entered", "sesame"],
    ["keeps a tab", ["a\tb\r"], "entered", "a\tb"],
    ["takes a paste", ["\x1b[200~sesame\x1b[201~\r"], "entered", "sesame"],
    ["keeps line breaks of a paste", ["\x1b[200~a\rb\r\nc\r\x1b[201~\r"], "entered", "a\nb\nc\n"],
    [
      "keeps keys of a paste as text",
      ["\x1b[200~a\x03\x15\x1b[Ab\x1b[201~\r"],
      "entered",
      "a\x03\x15\x1b[Ab",
    ],
    ["takes a paste in pieces", ["\x1b", "[20", "0~a\x1b[2", "01", "~b\r"], "entered", "ab"],
    [
      "sees an end right after what began as one",
      ["\x1b[200~\x1b[20\x1b[201~\r"],
      "entered",
      "\x1b[20",
    ],
    ["has at most its bound", ["x".repeat(64), "\r"], "entered", "x".repeat(64)],
    ["past its bound is none", ["x".repeat(65), "\r"], "entered", undefined],
    ["past its bound can be begun anew", ["x".repeat(65), "\x15y\r"], "entered", "y"],
  ])("%s", (_name, chunks, state, value) => {
    expect(typed(...chunks)).toEqual([state, value]);
  });

  test("is the same however it is cut into pieces, and a paste is what was pasted", () => {
    const text = fc
      .string({ unit: "binary", maxLength: 40 })
      .map((one) => one.replace(/[\r\x1b]/g, ""));
    fc.assert(
      fc.property(text, fc.array(fc.nat(80)), (pasted, cuts) => {
        const all = bytes(`\x1b[200~${pasted}\x1b[201~\r`);
        const line = new HiddenLine(1000);
        const places = [
          0,
          ...cuts.filter((at) => at < all.length).sort((a, b) => a - b),
          all.length,
        ];
        const states = places.slice(1).map((end, at) => line.push(all.subarray(places[at], end)));
        expect(states.at(-1)).toBe("entered");
        expect(line.value).toEqual(bytes(pasted));
      }),
    );
  });
});
