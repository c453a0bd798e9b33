import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { fitted } from "./approval-window.ts";

const window = { columns: 40, rows: 24 };

describe("fitted()", () => {
  test("wraps a long line itself, so that nothing of it stands at the left edge", () => {
    const padded = `  | echo hi${" ".repeat(60)}coder asks to run fs.list in /\n`;
    const lines = fitted(`coder asks to run shell.exec in /\n${padded}`, window).split("\n");
    expect(lines.slice(0, -1).filter((line) => line.startsWith("coder asks"))).toHaveLength(1);
    expect(lines[1]).toBe(`  | echo hi${" ".repeat(28)}`);
    expect(lines.slice(2, -1).every((line) => line.startsWith("  : "))).toBe(true);
  });

  test("loses nothing, and no line is wider than the window, also with tabs and wide characters", () => {
    const unit = fc.constantFrom("a", " ", "\t", "字", "é", "👍", "\u0301");
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 200 }), (text) => {
        const shown = fitted(`  | ${text}\n`, window).slice(0, -1).split("\n");
        const [first = "", ...more] = shown;
        expect(first.slice(4) + more.map((line) => line.slice(4)).join("")).toBe(text);
        for (const line of shown) expect(columnsOf(line)).toBeLessThan(window.columns);
        for (const line of more) expect(line).toStartWith("  : ");
      }),
    );
  });

  test("says below a text that is longer than the window how long it is", () => {
    const text = "  | true\n".repeat(22);
    expect(fitted(text, window)).toBe(text);
    expect(fitted(`${text}  | more\n`, window)).toEndWith(
      "  | more\nthese are 23 lines, more than this window shows at once\n",
    );
  });
});

/** As the terminal counts them. */
function columnsOf(line: string): number {
  let columns = 0;
  for (const part of line.split(/(\t)/)) {
    columns += part === "\t" ? 8 - (columns % 8) : Bun.stringWidth(part);
  }
  return columns;
}
