import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { DetachWatch, defaultDetachKeys, detachKeys } from "./detach-key.ts";

const encoder = new TextEncoder();

function typed(
  keys: string,
  ...chunks: string[]
): { passed: string; leave: boolean; held: string } {
  const watch = new DetachWatch(detachKeys(keys));
  let passed = "";
  let leave = false;
  for (const chunk of chunks) {
    const result = watch.push(encoder.encode(chunk));
    passed += new TextDecoder().decode(result.bytes);
    leave ||= result.leave;
  }
  return { passed, leave, held: new TextDecoder().decode(watch.release()) };
}

describe("detachKeys()", () => {
  test("reads the ways in which people write keys", () => {
    expect(detachKeys(defaultDetachKeys)).toEqual([0x1c, 0x1c]);
    expect(detachKeys("^A d")).toEqual([1, 0x64]);
    expect(detachKeys("C-b,C-]")).toEqual([2, 0x1d]);
    expect(detachKeys("none")).toEqual([]);
  });

  test.each(["", "ctrl-", "ctrl-é", "escape", "a b c d e", "^1"])("refuses %j", (text) => {
    expect(() => detachKeys(text)).toThrow(expect.objectContaining({ code: "EINVAL" }));
  });
});

describe("DetachWatch", () => {
  const key = defaultDetachKeys;

  test("leaves at the second key, also when they come apart, and passes on what was before", () => {
    expect(typed(key, "ls\x1c\x1crest")).toEqual({ passed: "ls", leave: true, held: "" });
    expect(typed(key, "ls\x1c", "\x1c")).toEqual({ passed: "ls", leave: true, held: "" });
  });

  test("passes on one key alone with what follows it, and holds it until then", () => {
    expect(typed(key, "\x1c", "x")).toEqual({ passed: "\x1cx", leave: false, held: "" });
    expect(typed(key, "a\x1c")).toEqual({ passed: "a", leave: false, held: "\x1c" });
  });

  test("starts anew with the key that broke a sequence", () => {
    expect(typed("^A d", "\x01\x01d")).toEqual({ passed: "\x01", leave: true, held: "" });
    expect(typed("^A ^A d", "\x01\x01", "\x01d").leave).toBe(true);
  });

  test("knows the key when the terminal reports keys in full", () => {
    for (const form of ["\x1b[92;5u", "\x1b[27;5;92~", "\x1b[92;5:1u\x1b[92;5:3u"]) {
      expect(typed(key, form, form).leave).toBe(true);
    }
  });

  test("loses and adds nothing as long as nobody leaves", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.constantFrom(0x1c, 0x61, 0x1b, 0), { maxLength: 4 })),
        (chunks) => {
          const watch = new DetachWatch(detachKeys(key));
          const out: number[] = [];
          for (const chunk of chunks) {
            const { bytes, leave } = watch.push(Uint8Array.from(chunk));
            out.push(...bytes);
            if (leave) {
              const all = chunks.flat();
              const at = all.findIndex((byte, index) => byte === 0x1c && all[index + 1] === 0x1c);
              expect(out).toEqual(all.slice(0, at));
              return;
            }
          }
          out.push(...watch.release());
          expect(out).toEqual(chunks.flat());
        },
      ),
    );
  });
});
