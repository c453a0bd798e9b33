import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ColourWatch } from "./screen-reset.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

function isFound(...pieces: string[]): boolean {
  const watch = new ColourWatch();
  return pieces.map((piece) => watch.push(bytes(piece))).at(-1) ?? false;
}

describe("a change of the terminal's colours", () => {
  const changes = [
    "4;1;#123456",
    "5;0;red",
    "10;red",
    "11;?",
    "12;#00f",
    "19;blue",
    "21;cursor=red",
  ];

  test.each(changes)("is found in OSC %s, however it is cut", (command) => {
    const whole = `said \x1b[1m\x1b]133;A\x07${"\x1b"}]${command}\x07more`;
    const cuts = fc.array(fc.nat(whole.length), { maxLength: 9 });
    fc.assert(
      fc.property(cuts, (places) => {
        const ends = [...places, whole.length].sort((a, b) => a - b);
        const pieces = ends.map((end, i) => whole.slice(ends[i - 1] ?? 0, end));
        expect(isFound(...pieces)).toBe(true);
      }),
    );
  });

  test.each([
    "\x1b]133;A\x07",
    "\x1b]0;title\x07",
    "\x1b]104\x07",
    "\x1b]8;;http://x\x1b\\",
    "\x1b[38;5;10m",
    "]4;1;red",
  ])("is not %j", (text) => {
    expect(isFound(text, "4;1;red", "10;red")).toBe(false);
  });
});
