import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { CodedError, codes } from "../abi/mod.ts";
import {
  escapeJson,
  escapeLine,
  escapeText,
  parseFlags,
  ReaderGone,
  reportError,
  revealLine,
  revealText,
  safeJson,
} from "./mod.ts";

describe("escapeText", () => {
  test("shows what could steer a terminal and leaves ordinary text alone", () => {
    expect(escapeText("a\x1b[31mb\x07\r\x7f\x9b2J\u202e\u2066é😀\\\t\n")).toBe(
      "a\\x1b[31mb\\x07\\r\\x7f\\x9b2J\\u202e\\u2066é😀\\\t\n",
    );
    expect(escapeLine("a\nb\tc")).toBe("a\\nb\\tc");
  });

  test("leaves no control character but newline and tab, and changes nothing twice", () => {
    const anything = fc.string({ unit: "binary", maxLength: 60 });
    fc.assert(
      fc.property(anything, (text) => {
        const escaped = escapeText(text);
        expect(
          /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u.test(
            escaped.replace(/[\n\t]/g, ""),
          ),
        ).toBe(false);
        expect(escapeText(escaped)).toBe(escaped);
      }),
    );
  });

  test("JSON stays the same value and prints harmlessly", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string({ unit: "binary" }), (value, text) => {
        const line = safeJson({ value, text });
        expect(escapeText(line)).toBe(line);
        expect(JSON.parse(line)).toEqual(JSON.parse(JSON.stringify({ value, text })));
      }),
    );
    expect(escapeJson('{"a":"\x9b"}')).toBe('{"a":"\\u009b"}');
  });
});

describe("revealText", () => {
  test("shows what is not seen or is no space, and leaves what is seen alone", () => {
    expect(
      revealText("a\u200bb\u2060c\ufeffd\u00ad\u2028\u3164\ufe0f\u180e\u00a0\u2800\n\te é字ب😀"),
    ).toBe(
      "a\\u200bb\\u2060c\\ufeffd\\u00ad\\u2028\\u3164\\ufe0f\\u180e\\u00a0\\u2800\n\te é字ب😀",
    );
    expect(revealText("\u{e0041}\ud800x\x1b")).toBe("\\u{e0041}\\ud800x\\x1b");
    expect(revealLine("a\u200b\n")).toBe("a\\u200b\\n");
  });

  test("gives two texts one look only when they differ by what stands there as an escape", () => {
    const anything = fc.string({ unit: "binary", maxLength: 60 });
    fc.assert(
      fc.property(anything, (text) => {
        const shown = revealText(text);
        expect(/(?![\n\t])[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u.test(shown)).toBe(false);
        expect(revealText(shown)).toBe(shown);
      }),
    );
  });
});

describe("reportError", () => {
  test("reads program, action, subject, reason, code, and then what to do", () => {
    const error = new CodedError(
      "session_locked",
      'cannot attach session "build-7": held by pid 4121',
      {
        hint: "stop that process",
      },
    );
    expect(reportError("ctx", error, false)).toEqual({
      text: 'ctx: cannot attach session "build-7": held by pid 4121 [session_locked]\n  hint: stop that process\n',
      exit: 69,
    });
  });

  test("names the place when the message does not", () => {
    const place = { file: "agent/coder.d/perm", line: 1, column: 3 };
    const { text } = reportError("ctx", new CodedError("EINVAL", "bad letter", { place }), false);
    expect(text).toBe("ctx: agent/coder.d/perm:1:3: bad letter [EINVAL]\n");
  });

  test("every code of the table has its exit status", () => {
    for (const [code, { exit }] of Object.entries(codes)) {
      expect(reportError("ctx", new CodedError(code as never, "x"), false).exit).toBe(exit);
    }
  });

  test("what nobody foresaw is our bug: 70, one line, where to report it, a stack only in debug", () => {
    const bug = new TypeError("undefined is not a function");
    const { text, exit } = reportError("ctx", bug, false);
    expect(exit).toBe(70);
    expect(text).toStartWith("ctx: internal error: undefined is not a function [EIO]\n");
    expect(text).toContain("report it");
    expect(text).not.toContain("cli.test.ts");
    expect(reportError("ctx", bug, true).text).toContain("cli.test.ts");
  });

  test("an error of the system keeps its code, and its text cannot steer the terminal", () => {
    const error = Object.assign(new Error("open '\x1b]0;x\x07': denied"), { code: "EPERM" });
    expect(reportError("ctx", error, false)).toEqual({
      text: "ctx: open '\\x1b]0;x\\x07': denied [EACCES]\n",
      exit: 13,
    });
  });

  test("a reader that went away is no failure", () => {
    expect(reportError("ctx", new ReaderGone(), false)).toEqual({ text: "", exit: 0 });
    // As it comes out of another piece of the program, which has its own copy of the class.
    class Copy extends Error {
      override readonly name = "ReaderGone";
    }
    expect(reportError("ctx", new Copy(), false)).toEqual({ text: "", exit: 0 });
  });
});

describe("parseFlags", () => {
  const kinds = { json: "switch", source: "value" } as const;

  test("takes switches, both forms of values, words and what follows --", () => {
    const argv = ["a", "--json", "--source", "x", "--source=y=z", "-", "-1", "--", "--json"];
    const { on, value, words } = parseFlags(argv, { ...kinds });
    expect([...on]).toEqual(["json"]);
    expect([...value]).toEqual([["source", "y=z"]]);
    expect(words).toEqual(["a", "-", "-1", "--json"]);
  });

  test("keeps every value of an option that may be given again", () => {
    const { values, value } = parseFlags(["--only", "a", "--only=b"], { only: "values" });
    expect([...values]).toEqual([["only", ["a", "b"]]]);
    expect(value.size).toBe(0);
  });

  test("refuses unknown options, missing values and values of switches", () => {
    for (const argv of [["--nope"], ["-x"], ["--source"], ["--json=1"], ["--toString"]]) {
      expect(() => parseFlags(argv, kinds)).toThrow(CodedError);
    }
  });
});
