import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { type Key, KeyDecoder, pasteBytesMax } from "./mod.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const key = (name: string): Key => ({ kind: "key", name: name as never });

describe("keys", () => {
  const all = (text: string) => new KeyDecoder().push(bytes(text));

  test("of a terminal are told apart", () => {
    const named = (text: string) =>
      all(text).map((one) => (one.kind === "key" ? one.name : `${one.kind}:${one.text}`));
    expect(named("aé\r\t\x7f\x01\x1a")).toEqual([
      "text:a",
      "text:é",
      "enter",
      "tab",
      "backspace",
      "ctrl-a",
      "ctrl-z",
    ]);
    expect(named("\x1b[A\x1bOB\x1b[1;5D\x1b[3~\x1b[1;3C\x1b[Z\x1b[H")).toEqual([
      "up",
      "down",
      "word-left",
      "delete",
      "word-right",
      "back-tab",
      "home",
    ]);
    expect(named("\x1bb\x1b\x7f\x1b[<0;1;1M\x1b[99~x")).toEqual([
      "alt-b",
      "alt-backspace",
      "unknown",
      "unknown",
      "text:x",
    ]);
    expect(named("\x1b[200~a\rb\x1b[A\x1b[201~\r")).toEqual(["paste:a\rb\x1b[A", "enter"]);
  });

  test("come out the same however their bytes are cut", () => {
    const parts = [
      "a",
      "é",
      "漢",
      "👩‍👩‍👧",
      "\r",
      "\x1b[A",
      "\x1bOC",
      "\x1b[200~x\x1b[2\ny\x1b[201~",
      "\x1bd",
    ];
    const joined = (keys: readonly Key[]) => {
      const out: string[] = [];
      for (const one of keys) out.push(one.kind === "key" ? `<${one.name}>` : one.text);
      return out.join("");
    };
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...parts)),
        fc.infiniteStream(fc.integer({ min: 1, max: 4 })),
        (list, cuts) => {
          const whole = bytes(list.join(""));
          const decoder = new KeyDecoder();
          const keys: Key[] = [];
          for (let at = 0; at < whole.length; ) {
            const size = cuts.next().value as number;
            keys.push(...decoder.push(whole.subarray(at, at + size)));
            at += size;
          }
          expect(joined(keys)).toBe(joined(new KeyDecoder().push(whole)));
          expect(decoder.pending).toBe(false);
        },
      ),
    );
  });

  test("an escape alone is a key when nothing follows it, and garbage is bounded", () => {
    const decoder = new KeyDecoder();
    expect([decoder.push(bytes("\x1b")), decoder.pending, decoder.flush()]).toEqual([
      [],
      true,
      [key("escape")],
    ]);
    expect(decoder.push(bytes(`\x1b[${"1;".repeat(500)}`))).toEqual([]);
    expect(decoder.push(bytes("\r"))).toContainEqual(key("enter"));
    decoder.push(bytes("\x1b[200~"));
    for (let n = 0; n < 20; n++) decoder.push(bytes("x".repeat(32 * 1024)));
    const [paste] = decoder.push(bytes("\x1b[201~"));
    expect(paste).toMatchObject({ kind: "paste", cut: true });
    expect(paste?.kind === "paste" && paste.text.length).toBe(pasteBytesMax);
  });
});
