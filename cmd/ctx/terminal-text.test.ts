import { expect, test } from "bun:test";
import fc from "fast-check";
import { terminalText } from "./terminal-text.ts";

const plain = (text: string) => terminalText(new TextEncoder().encode(text), { colours: false });
const coloured = (text: string) => terminalText(new TextEncoder().encode(text), { colours: true });

test.each([
  ["ordinary lines", "one\r\ntwo\r\n", "one\ntwo\n"],
  ["colours", "\x1b[1;31mred\x1b[0m", "red"],
  ["titles, links and marks", "\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b\x1b]133;C\x07c", "abc"],
  ["a device control string", "a\x1bPq#0;2;0\x1b\\b", "ab"],
  ["a cut sequence at the end", "a\x1b[31", "a"],
  ["a cut title at the end", "a\x1b]0;title", "a"],
  ["a progress bar", "10%\r50%\r100%\r\n", "100%\n"],
  ["a shorter text with its line erased", "long text\rok\x1b[K\r\n", "ok\n"],
  ["a backspace", "abd\bc", "abc"],
  ["a character set and a lone escape", "\x1b(Ba\x1b", "a"],
  ["what a shell puts right after a program", "text\r\n\x1b[0m\x1b(B\x0f\x1b[?25h", "text\n"],
  ["NUL, the bell and shifts of character sets", "a\x00b\x07c\x0ed\x0f", "abcd"],
  ["wide characters", "日本語\r\n", "日本語\n"],
])("leaves of %s what can be read", (_name, given, expected) => {
  expect(plain(given)).toBe(expected);
});

test("keeps colours when they are wanted, and nothing else", () => {
  expect(coloured("\x1b[31mred\x1b[2Jx\x1b[0m\r\n")).toBe("\x1b[31mredx\x1b[0m\n");
});

test("lets nothing through that a terminal obeys", () => {
  const piece = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("\x1b[", "\x1b]", "\x9b", "\r"),
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      expect(plain(pieces.join(""))).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
      const rest = coloured(pieces.join("")).replace(/\x1b\[[0-9;:]*m/g, "");
      expect(rest).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
    }),
  );
});
