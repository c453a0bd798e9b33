import { expect, test } from "bun:test";
import fc from "fast-check";
import { canonicalDepthMax, canonicalJson, definitionText } from "./mod.ts";

test("members are sorted by code unit and nothing is added", () => {
  const value = { b: [1, -0, 1e21, 0.1], "": null, a: { "\u20ac": true, é: "\u2028\n", Z: [] } };
  expect(canonicalJson(value)).toBe(
    '{"":null,"a":{"Z":[],"é":"\u2028\\n","€":true},"b":[1,0,1e+21,0.1]}',
  );
  expect(canonicalJson(JSON.parse('{"__proto__":1,"10":2,"9":3}'))).toBe(
    '{"10":2,"9":3,"__proto__":1}',
  );
  expect(canonicalJson("\ud800")).toBe('"\\ud800"');
});

function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, one]) => [name, shuffled(one)]),
  );
}

test("the text says the value, whatever order its members had, and says it again", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (raw) => {
      const value: unknown = JSON.parse(JSON.stringify(raw));
      const text = canonicalJson(value);
      expect(JSON.parse(text)).toEqual(value);
      expect(canonicalJson(shuffled(value))).toBe(text);
      expect(canonicalJson(JSON.parse(text))).toBe(text);
      expect(text).not.toMatch(/^\s|\s$/);
    }),
  );
});

const nested = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth));

test("depth is bounded, and what JSON cannot say is refused", () => {
  expect(canonicalJson(nested(canonicalDepthMax + 1))).toHaveLength(2 * (canonicalDepthMax + 1));
  expect(() => canonicalJson(nested(canonicalDepthMax + 2))).toThrow("nests deeper than 128");
  expect(() => canonicalJson(JSON.parse('{"a":1e999}'))).toThrow("too large for a double");
  expect(() => canonicalJson(undefined)).toThrow("a undefined is no JSON value");
});

test("a definition is name, description and schemas as the server said them, and nothing else", () => {
  const definition = {
    name: "t",
    title: "T",
    inputSchema: { type: "object", $schema: "x" },
    annotations: { readOnlyHint: true },
  };
  expect(definitionText(definition)).toBe(
    '{"inputSchema":{"$schema":"x","type":"object"},"name":"t"}',
  );
  expect(definitionText({ ...definition, description: "d", outputSchema: null })).toBe(
    '{"description":"d","inputSchema":{"$schema":"x","type":"object"},"name":"t","outputSchema":null}',
  );
});
