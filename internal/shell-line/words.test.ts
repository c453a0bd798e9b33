import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { commandsIn, lex, quoteWord } from "./mod.ts";

describe("words", () => {
  test("are kept apart by spaces, held together by quotes, and never expanded", () => {
    const cases: readonly (readonly [string, readonly string[][]])[] = [
      ["", []],
      ["  fs.read\tREADME.md ", [["fs.read", "README.md"]]],
      [`a 'b c' "d \\" e" f\\ g ''`, [["a", "b c", 'd " e', "f g", ""]]],
      [`say "$HOME \\n" '\\n'`, [["say", "$HOME \\n", "\\n"]]],
      [
        "$(id) `id` $HOME *.md ~ a;b | c > d &",
        [["$(id)", "`id`", "$HOME", "*.md", "~", "a;b", "|", "c", ">", "d", "&"]],
      ],
      [`fs.write a '{"path":"x"}'`, [["fs.write", "a", '{"path":"x"}']]],
      ["one\n\ntwo 'x\ny'\n", [["one"], ["two", "x\ny"]]],
      ["one \\\ntwo", [["one", "two"]]],
    ];
    for (const [line, words] of cases) expect([line, commandsIn(line)]).toEqual([line, [...words]]);
  });

  test("left open are refused with line and column", () => {
    expect(() => commandsIn("fs.read 'a")).toThrow(
      "the quote ' is not closed, at line 1, column 9",
    );
    expect(() => commandsIn('a\nb "')).toThrow('the quote " is not closed, at line 2, column 3');
    expect(() => commandsIn("a \\")).toThrow("nothing follows the backslash, at line 1, column 3");
  });

  test("quoted are read as themselves", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" }), { minLength: 1 }), (words) => {
        expect(commandsIn(words.map(quoteWord).join(" "))).toEqual([words]);
      }),
    );
  });

  test("lie where they were typed", () => {
    const line = " a 'b c'";
    const [words] = lex(line).commands;
    expect(words?.map(({ start, end }) => line.slice(start, end))).toEqual(["a", "'b c'"]);
  });
});
