import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Bindings, match, placeholderOf, substitute } from "./pattern.ts";

const none: Bindings = new Map();
const fresh = () => "fresh-1";

function bound(pattern: unknown, value: unknown, bindings = none): Record<string, unknown> {
  const matched = match(pattern, value, bindings);
  if (!matched.ok) throw new Error(`${matched.path}: ${matched.reason}`);
  return Object.fromEntries(matched.bindings);
}

function refused(pattern: unknown, value: unknown, bindings = none): string {
  const matched = match(pattern, value, bindings);
  if (matched.ok) throw new Error("matched");
  return matched.path;
}

describe("placeholderOf()", () => {
  test("knows each form and takes nothing else for one", () => {
    expect(placeholderOf("x")).toEqual({ form: "literal", text: "x" });
    expect(placeholderOf("<<run>")).toEqual({ form: "literal", text: "<run>" });
    expect(placeholderOf("<new:req>")).toEqual({ form: "new", name: "req" });
    expect(placeholderOf("<run>")).toEqual({ form: "value", name: "run" });
    expect(placeholderOf("<n#>")).toEqual({ form: "number", name: "n#" });
    expect(placeholderOf("<n#+1>")).toEqual({ form: "next", name: "n#" });
    expect(placeholderOf("<n#+>")).toEqual({ form: "later", name: "n#" });
    expect(placeholderOf("<*>")).toEqual({ form: "present" });
    expect(placeholderOf("<->")).toEqual({ form: "absent" });
    for (const text of ["<", "<>", "<Run>", "<a b>", "<new:n#>", "<n#+2>", "<run> x", "<1>"]) {
      expect(placeholderOf(text)).toBeUndefined();
    }
  });
});

describe("match()", () => {
  test("asks for the listed fields and lets more be there", () => {
    expect(bound({ a: 1, b: { c: null } }, { a: 1, b: { c: null, d: 2 }, e: 3 })).toEqual({});
    expect(refused({ a: 1 }, { a: 2 })).toBe("/a");
    expect(refused({ a: { "b/c~": true } }, { a: {} })).toBe("/a/b~1c~0");
    expect(refused({ a: 1 }, [])).toBe("");
    expect(refused({ a: null }, {})).toBe("/a");
  });

  test("takes arrays as a whole", () => {
    expect(bound([1, { a: "<*>" }], [1, { a: 2, b: 3 }])).toEqual({});
    expect(refused([1], [1, 2])).toBe("");
    expect(refused([1, 2], [1, 3])).toBe("/1");
    expect(refused([], {})).toBe("");
  });

  test("binds a name at first sight and holds it to that", () => {
    expect(bound({ a: "<run>", b: "<run>" }, { a: "r", b: "r" })).toEqual({ run: "r" });
    expect(refused({ a: "<run>", b: "<run>" }, { a: "r", b: "s" })).toBe("/b");
    expect(refused({ a: "<run>" }, { a: "" })).toBe("/a");
    expect(refused({ a: "<run>" }, { a: 7 })).toBe("/a");
    expect(refused({ a: "<run>" }, {})).toBe("/a");
  });

  test("counts: equal, exactly one more, more", () => {
    const known: Bindings = new Map([["n#", 5]]);
    expect(bound("<n#>", 5, known)).toEqual({ "n#": 5 });
    expect(bound("<n#+1>", 6, known)).toEqual({ "n#": 6 });
    expect(bound("<n#+>", 9, known)).toEqual({ "n#": 9 });
    expect(bound(["<n#+1>", "<n#+1>"], [6, 7], known)).toEqual({ "n#": 7 });
    for (const [pattern, value] of [
      ["<n#>", 6],
      ["<n#+1>", 7],
      ["<n#+1>", 5],
      ["<n#+>", 5],
      ["<n#>", "5"],
      ["<m#>", 0],
      ["<m#>", 1.5],
    ] as const) {
      expect(refused(pattern, value, known)).toBe("");
    }
  });

  test("tells presence from absence, and a null from both", () => {
    expect(bound({ a: "<*>", b: "<->" }, { a: null })).toEqual({});
    expect(refused({ a: "<*>" }, {})).toBe("/a");
    expect(refused({ a: "<->" }, { a: null })).toBe("/a");
    expect(refused({ toString: "<*>" }, {})).toBe("/toString");
  });

  test("does not bind anything when it refuses", () => {
    const known = new Map<string, string | number>();
    match({ a: "<run>", b: 1 }, { a: "r", b: 2 }, known);
    expect(known.size).toBe(0);
  });

  test("any JSON without a < in front of a text matches itself and no other", () => {
    const json = fc.jsonValue().filter((value) => !JSON.stringify(value).includes('"<'));
    fc.assert(
      fc.property(json, json, (value, other) => {
        const copy: unknown = JSON.parse(JSON.stringify(value));
        expect(match(copy, copy, none).ok).toBe(true);
        if (typeof other !== "object" && JSON.stringify(other) !== JSON.stringify(copy)) {
          expect(match(other, copy, none).ok).toBe(false);
        }
      }),
    );
  });
});

describe("substitute()", () => {
  test("fills what is bound, makes what is new, and leaves literals", () => {
    const bindings: Bindings = new Map<string, string | number>([
      ["run", "r"],
      ["n#", 4],
    ]);
    const filled = substitute(
      { a: "<run>", b: ["<n#>", "<<x>"], c: { d: "<new:req>" }, e: "<req>", f: null },
      bindings,
      fresh,
    );
    expect(filled.value).toEqual({
      a: "r",
      b: [4, "<x>"],
      c: { d: "fresh-1" },
      e: "fresh-1",
      f: null,
    });
    expect(filled.bindings.get("req")).toBe("fresh-1");
    expect(bindings.has("req")).toBe(false);
  });
});
