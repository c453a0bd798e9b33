import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  columns,
  complete,
  completionTarget,
  decodeHistory,
  draw,
  type Editor,
  edit,
  encodeHistory,
  erase,
  freshEditor,
  historyBytesMax,
  historyLinesMax,
  type Key,
  layout,
  lineUnitsMax,
  marks,
  nothingDrawn,
  remembered,
  widthOf,
} from "./mod.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const key = (name: string): Key => ({ kind: "key", name: name as never });
const typed = (editor: Editor, ...keys: (string | Key)[]) =>
  keys.reduce<Editor>(
    (at, one) => edit(at, typeof one === "string" ? { kind: "text", text: one } : one).next,
    editor,
  );

describe("the editor", () => {
  test("edits by clusters, words and lines", () => {
    const line = typed(
      freshEditor([]),
      "say e\u0301👩‍👩‍👧漢",
      key("left"),
      key("left"),
      key("backspace"),
    );
    expect([line.text, line.cursor]).toEqual(["say 👩‍👩‍👧漢", 4]);
    const moved = typed(line, key("ctrl-a"), key("word-right"), key("ctrl-k"));
    expect([moved.text, moved.cut]).toEqual(["say", " 👩‍👩‍👧漢"]);
    expect(typed(moved, key("ctrl-w"), key("ctrl-y"), key("ctrl-y")).text).toBe("saysay");
    expect(typed(freshEditor([]), "ab", key("left"), "\u0301c").text).toBe("a\u0301cb");
  });

  test("says what should happen", () => {
    const effects = (editor: Editor, name: string) => edit(editor, key(name)).effects;
    const line = typed(freshEditor([]), "x");
    expect(effects(line, "enter")).toEqual([{ kind: "submit", text: "x" }]);
    expect(effects(line, "ctrl-d")).toEqual([{ kind: "bell" }]);
    expect(effects(freshEditor([]), "ctrl-d")).toEqual([{ kind: "end" }]);
    expect(effects(line, "ctrl-c")).toEqual([{ kind: "abandon" }]);
    expect(effects(line, "tab")).toEqual([{ kind: "complete" }]);
    expect(effects(line, "ctrl-z")).toEqual([]);
  });

  test("goes through earlier lines and back to the one being written, and searches them", () => {
    const line = typed(freshEditor(["one", "two", "three"]), "dra", key("up"), key("up"));
    expect(line.text).toBe("two");
    expect(typed(line, key("down"), key("down")).text).toBe("dra");
    const found = typed(line, key("ctrl-r"), "o");
    expect([found.text, typed(found, key("ctrl-r")).text]).toEqual(["two", "one"]);
    expect(typed(found, key("ctrl-g")).text).toBe("two");
    expect(edit(typed(found, key("ctrl-r")), key("enter")).effects).toEqual([
      { kind: "submit", text: "one" },
    ]);
  });

  test("takes a paste of many lines as text and refuses one that is too long", () => {
    const paste = (text: string): Key => ({ kind: "paste", text, cut: false });
    const line = typed(freshEditor([]), paste("a\r\nb\rc\n"));
    expect(line.text).toBe("a\nb\nc");
    const { next, effects } = edit(line, paste("x".repeat(lineUnitsMax)));
    expect([next.text, effects]).toEqual(["a\nb\nc", [{ kind: "bell" }]]);
  });

  test("never loses its cursor", () => {
    const names = [
      "left",
      "right",
      "backspace",
      "delete",
      "word-left",
      "word-right",
      "home",
      "end",
      "ctrl-k",
      "ctrl-u",
      "ctrl-w",
      "ctrl-y",
      "alt-d",
      "up",
      "down",
      "ctrl-r",
      "escape",
      "ctrl-g",
    ];
    const keys = fc.oneof(
      fc.constantFrom(...names).map(key),
      fc
        .string({ unit: "grapheme", minLength: 1, maxLength: 4 })
        .map((text): Key => ({ kind: "text", text })),
      fc.constant<Key>({ kind: "paste", text: "p\nq 漢", cut: false }),
    );
    fc.assert(
      fc.property(fc.array(keys), (list) => {
        const line = typed(freshEditor(["old 漢", "new\nline"]), ...list);
        expect(line.cursor).toBeGreaterThanOrEqual(0);
        expect(line.cursor).toBeLessThanOrEqual(line.text.length);
        expect(line.text.isWellFormed()).toBe(true);
        expect(line.text.slice(0, line.cursor).isWellFormed()).toBe(true);
      }),
    );
  });
});

describe("the drawing", () => {
  const shown = (text: string, cursor = text.length) => ({
    prompt: "> ",
    promptWidth: 2,
    text,
    cursor,
  });

  test("breaks rows by cells and knows the cursor's place", () => {
    expect(widthOf("a漢e\u0301👍")).toBe(6);
    expect(layout(shown("abcdef"), 5, 9)).toEqual({
      rows: ["> abc", "def"],
      widths: [5, 3],
      cursorRow: 1,
      cursorColumn: 3,
    });
    expect(layout(shown("ab漢字"), 5, 9)).toMatchObject({
      rows: ["> ab", "漢字"],
      cursorRow: 1,
      cursorColumn: 4,
    });
    expect(layout(shown("abc"), 5, 9)).toMatchObject({
      rows: ["> abc", ""],
      cursorRow: 1,
      cursorColumn: 0,
    });
    expect(layout(shown("abcdef", 3), 5, 9)).toMatchObject({ cursorRow: 1, cursorColumn: 0 });
    expect(layout(shown("a\nb", 2), 9, 9)).toMatchObject({
      rows: ["> a", "b"],
      cursorRow: 1,
      cursorColumn: 0,
    });
    expect(layout(shown("a\x1b[2J\x07"), 20, 9).rows).toEqual(["> a^[[2J^G"]);
  });

  test("shows the rows around the cursor of a line that is larger than the terminal", () => {
    const text = "x".repeat(1000);
    expect(layout(shown(text), 10, 4)).toMatchObject({ cursorRow: 3 });
    expect(layout(shown(text, 0), 10, 4)).toMatchObject({ cursorRow: 0, cursorColumn: 2 });
  });

  test("is taken off from where the cursor stands, also when the terminal became narrower", () => {
    const drawing = layout(shown("x".repeat(30)), 20, 9);
    expect([erase(drawing, 20), erase(drawing, 10), erase(nothingDrawn, 20)]).toEqual([
      "\r\x1b[1A\x1b[J",
      "\r\x1b[3A\x1b[J",
      "",
    ]);
    expect(draw(layout(shown("abcdef", 0), 5, 9))).toBe("> abc\r\ndef\r\x1b[1A\x1b[2C");
  });
});

describe("completion", () => {
  const at = (text: string) => ({ ...freshEditor([]), text, cursor: text.length });
  const names = ["fs.read", "fs.replace", "shell.exec"].map((text) => ({ text }));
  const done = (text: string, list = names) => {
    const { next, list: shown } = complete(at(text), completionTarget(at(text)), list);
    return [next.text, shown];
  };

  test("puts in what all share and lists the rest", () => {
    expect(done("f")).toEqual(["fs.re", []]);
    expect(done("fs.re")).toEqual(["fs.re", ["fs.read", "fs.replace"]]);
    expect(done("s")).toEqual(["shell.exec ", []]);
    expect(done("z")).toEqual(["z", []]);
    expect(done("help sh")).toEqual(["help shell.exec ", []]);
    expect(completionTarget(at("help 'a b"))).toEqual({ prefix: "a b", from: 5, before: ["help"] });
    expect(completionTarget(at("a\nb c "))).toEqual({ prefix: "", from: 6, before: ["b", "c"] });
  });

  test("quotes a name where it must be, and leaves a folder open", () => {
    expect(done("x a", [{ text: "a b" }])).toEqual(["x 'a b' ", []]);
    expect(done("x a", [{ text: "a b/", partial: true } as { text: string }])).toEqual([
      "x 'a b/",
      [],
    ]);
    expect(done("x d", [{ text: "d/", partial: true } as { text: string }])).toEqual(["x d/", []]);
  });

  test("lists in columns", () => {
    expect(columns(["a", "bb", "c", "d"], 8)).toEqual(["a   c", "bb  d"]);
    expect(columns([], 8)).toEqual([]);
  });
});

describe("history", () => {
  test("is kept as it was, bounded, without blanks and repetitions", () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (lines) => {
        expect(decodeHistory(encodeHistory(lines))).toEqual([...lines]);
      }),
    );
    const many = Array.from({ length: historyLinesMax + 5 }, (_, n) => `line ${n}`);
    expect(decodeHistory(encodeHistory(many))).toEqual(many.slice(5));
    const large = encodeHistory(Array.from({ length: 100 }, (_, n) => `${n}${"x".repeat(60_000)}`));
    expect(bytes(large).length).toBeLessThanOrEqual(historyBytesMax);
    expect(decodeHistory('"a"\nbroken\n{}\n"b')).toEqual(["a"]);
    expect(["a", " secret", "", "a", "b"].reduce(remembered, [] as readonly string[])).toEqual([
      "a",
      "b",
    ]);
  });
});

test("a mark holds any line within the bound of those who read it", () => {
  const mark = marks.output(`\x1b]0;x\x07${"漢".repeat(5000)}`);
  expect(mark.length).toBeLessThan(8 * 1024);
  expect(mark).toMatch(/^\x1b\]133;C;cmdline_url=[\w%.!~*'()-]+\x07$/);
});
