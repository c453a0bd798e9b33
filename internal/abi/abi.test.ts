import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  CodedError,
  coded,
  foldErrno,
  isCode,
  isObjectName,
  objectName,
  parseModelRef,
  quoted,
  sessionName,
} from "./mod.ts";

describe("object names", () => {
  test.each(["a", "0", "fs.read", "GPT-5.6+x_y", "a".repeat(64), "a.d.b", "a.socket"])(
    "%j is one",
    (name) => {
      expect(isObjectName(name)).toBe(true);
      expect(objectName("tool", name)).toBe(name);
    },
  );

  test.each([
    ...["", ".", "..", ".a", "-a", "_a", "+a", "a".repeat(65), "a.sock", "a.d", "a/b", "a b"],
    ...["a\n", "\na", "a\0", "сoder", "ｃｏｄｅｒ", "é", "a:b", "a*", "a\u200b"],
  ])("%j is none", (name) => {
    expect(isObjectName(name)).toBe(false);
    expect(() => objectName("tool", name)).toThrow(CodedError);
  });

  test("a session may not be called index", () => {
    expect(() => sessionName("index")).toThrow('session name "index" is reserved');
    expect(sessionName("index2")).toBe("index2");
  });

  test("a model is two names", () => {
    expect(parseModelRef("debug/echo")).toEqual({ provider: "debug", model: "echo" });
    for (const wrong of ["debug", "debug/", "/echo", "a/b/c", "../a", "a/b.d", ""]) {
      expect([wrong, parseModelRef(wrong)]).toEqual([wrong, undefined]);
    }
  });
});

describe("quoted()", () => {
  test("escapes what moves a cursor or hides text, and cuts what floods", () => {
    expect(quoted("a b")).toBe('"a b"');
    expect(quoted('a"\u001b[2J\u009b\u202e\u007f')).toBe('"a\\"\\u001b[2J\\u009b\\u202e\\u007f"');
    expect(quoted("x".repeat(96))).toBe(`"${"x".repeat(96)}"`);
    expect(quoted("x".repeat(97))).toBe(`"${"x".repeat(96)}…"`);
  });

  test("never prints a control character and never more than its bound", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 500 }), (text) => {
        expect(quoted(text)).toMatch(/^"[^\0-\x1f\x7f-\x9f]{0,600}"$/u);
      }),
    );
  });
});

describe("coded()", () => {
  test("keeps a coded error and the errno names of the table", () => {
    const error = new CodedError("busy", "queue is full");
    expect(coded(error)).toBe(error);
    expect(coded(Object.assign(new Error("x"), { code: "ENOENT" })).code).toBe("ENOENT");
  });

  test("takes the errno name away from in front of what a system call says", () => {
    const message = "ENOENT: no such file or directory, open 'x'";
    const thrown = Object.assign(new Error(message), { code: "ENOENT" });
    expect(coded(thrown).message).toBe("no such file or directory, open 'x'");
    expect(coded(thrown).cause).toBe(thrown);
  });

  test("folds its neighbours and calls the rest EIO", () => {
    const folded = ["EPERM", "ELOOP", "EXDEV", "EDQUOT", "EMFILE", "ECONNREFUSED", "EBADF", "x"];
    expect(folded.map(foldErrno)).toEqual([
      ...(["EACCES", "EACCES", "EACCES", "ENOSPC", "busy", "EHOSTDOWN", "EIO", "EIO"] as const),
    ]);
    expect(coded("text").code).toBe("EIO");
    expect(coded(null).code).toBe("EIO");
    expect(isCode("toString")).toBe(false);
    expect(foldErrno("toString")).toBe("EIO");
  });
});
