import { describe, expect, test } from "bun:test";
import { observe, pieces } from "./observation.ts";

describe("pieces()", () => {
  test("loses nothing, keeps to its bound and never parts a surrogate pair", () => {
    const text = `ab${"😀".repeat(7)}c`;
    for (let units = 2; units < 20; units++) {
      const parts = pieces(text, units);
      expect(parts.join("")).toBe(text);
      expect(parts.every((part) => part.length <= units && part.isWellFormed())).toBe(true);
    }
  });

  test("gives one piece for what fits, also for nothing", () => {
    expect(pieces("", 4)).toEqual([""]);
    expect(pieces("abcd", 4)).toEqual(["abcd"]);
    expect(pieces("abcde", 4)).toEqual(["abcd", "e"]);
  });
});

describe("observe()", () => {
  test("cuts before the character that does not fit and keeps the whole", () => {
    const seen = observe("aé", 2);
    expect([seen.content, seen.truncated, seen.whole?.length]).toEqual(["a", true, 3]);
    expect(observe("aé", 3)).toEqual({ content: "aé", truncated: false, whole: undefined });
  });
});
