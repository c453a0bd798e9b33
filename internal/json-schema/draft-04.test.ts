import { expect, test } from "bun:test";
import { schemaProblem } from "./mod.ts";

const $schema = "http://json-schema.org/draft-04/schema#";
const problem = (schema: object, value: unknown) =>
  schemaProblem({ $schema, ...schema }, value, "it");

test("bounds are excluded by a yes or no beside them", async () => {
  const above = { properties: { n: { minimum: 1, exclusiveMinimum: true } } };
  expect(await problem(above, { n: 2 })).toBeUndefined();
  expect(await problem(above, { n: 1 })).toBe("/n must be > 1");
  const from = { properties: { n: { minimum: 1, exclusiveMinimum: false } } };
  expect(await problem(from, { n: 1 })).toBeUndefined();
  expect(await problem(from, { n: 0 })).toBe("/n must be >= 1");
  const below = { items: { allOf: [{ maximum: 3, exclusiveMaximum: true }] } };
  expect(await problem(below, [2])).toBeUndefined();
  expect(await problem(below, [3])).toBe("/0 must be < 3");
  expect(await problem({ exclusiveMinimum: true }, 7)).toBeUndefined();
});

test("a schema's address is its id, and a property may be called so", async () => {
  const schema = {
    id: "http://example.com/root",
    definitions: { one: { id: "http://example.com/one", type: "integer" } },
    properties: { id: { $ref: "http://example.com/one" } },
    required: ["id"],
  };
  expect(await problem(schema, { id: 1 })).toBeUndefined();
  expect(await problem(schema, { id: "1" })).toBe("/id must be integer");
  expect(await problem(schema, {})).toBe("it must have required property 'id'");
});
