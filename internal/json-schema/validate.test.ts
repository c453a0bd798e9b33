import { expect, test } from "bun:test";
import { SchemaFault, schemaBytesMax, schemaDepthMax, schemaProblem } from "./mod.ts";

const draft07 = "http://json-schema.org/draft-07/schema#";

async function fault(schema: Record<string, unknown>, value: unknown = {}): Promise<string> {
  try {
    await schemaProblem(schema, value, "it");
  } catch (error) {
    if (error instanceof SchemaFault) return error.message;
    throw error;
  }
  return "";
}

test("a value fits, or the place and what is wrong there are told", async () => {
  const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
  expect(await schemaProblem(schema, { a: "x" }, "it")).toBeUndefined();
  expect(await schemaProblem(schema, { a: 1 }, "it")).toBe("/a must be string");
  expect(await schemaProblem(schema, {}, "it")).toBe("it must have required property 'a'");
});

test("a schema may refer to itself as long as each round goes into the value", async () => {
  const tree = {
    $schema: draft07,
    definitions: { node: { type: "object", properties: { next: { $ref: "#/definitions/node" } } } },
    $ref: "#/definitions/node",
  };
  expect(await schemaProblem(tree, { next: { next: {} } }, "it")).toBeUndefined();
  expect(await schemaProblem(tree, { next: { next: 1 } }, "it")).toBe("/next/next must be object");
});

test.each([
  [{ type: "object", allOf: [{ $ref: "#" }] }],
  [{ $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" }],
])("references that go round without end are a fault: %j", async (schema) => {
  expect(await fault(schema)).toBe("its references go round without end");
});

test("a schema may refer to the whole that it is in", async () => {
  const schema = { type: "object", properties: { next: { $ref: "#" } }, required: ["a"] };
  for (const dialect of [{}, { $schema: draft07 }]) {
    const tree = { ...dialect, ...schema };
    expect(await schemaProblem(tree, { a: 1, next: { a: 1 } }, "it")).toBeUndefined();
    expect(await schemaProblem(tree, { a: 1, next: {} }, "it")).toBe(
      "/next must have required property 'a'",
    );
  }
});

test("a value that would take for ever is given up", async () => {
  const twice = (name: string) => ({ allOf: [{ $ref: name }, { $ref: name }] });
  const doubling = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => [`a${n}`, twice(`#/$defs/a${n + 1}`)]),
  );
  const chain = { $ref: "#/$defs/a0", $defs: { ...doubling, a40: { type: "object" } } };
  expect(await fault(chain)).toBe("it takes more than 1000000 steps for this value");
  const node = { type: "object", properties: { x: twice("#/$defs/node") } };
  const deep = JSON.parse(`${'{"x":'.repeat(40)}{}${"}".repeat(40)}`);
  expect(await fault({ $ref: "#/$defs/node", $defs: { node } }, deep)).toBe(
    "it takes more than 1000000 steps for this value",
  );
  const short = JSON.parse(`${'{"x":'.repeat(10)}{}${"}".repeat(10)}`);
  expect(await fault({ $ref: "#/$defs/node", $defs: { node } }, short)).toBe("");
});

test("items are unique by value, however many there are", async () => {
  const schema = { uniqueItems: true };
  const many = Array.from({ length: 50_000 }, (_, n) => ({ n, a: [n] }));
  expect(await schemaProblem(schema, many, "it")).toBeUndefined();
  expect(await schemaProblem(schema, [...many, { a: [7], n: 7 }], "it")).toBe(
    "it must NOT have duplicate items",
  );
  expect(await schemaProblem(schema, [1, "1", null, true, [1], { a: 1 }], "it")).toBeUndefined();
  expect(await schemaProblem({ uniqueItems: false }, [1, 1], "it")).toBeUndefined();
});

test("members that only look like schemas are values", async () => {
  const schema = { properties: { $ref: { type: "string" }, allOf: { const: { allOf: [1] } } } };
  expect(await schemaProblem(schema, { $ref: "x", allOf: { allOf: [1] } }, "it")).toBeUndefined();
  expect(await schemaProblem(schema, { allOf: { allOf: [2] } }, "it")).toContain("/allOf");
});

test("a schema of the bounds is compiled, and one past them is not even looked at", async () => {
  const wide = (bytes: number) => {
    const empty = JSON.stringify({ type: "object", description: "" }).length;
    return { type: "object", description: "x".repeat(bytes - empty) };
  };
  expect(await fault(wide(schemaBytesMax))).toBe("");
  expect(await fault(wide(schemaBytesMax + 1))).toBe("it is larger than 262144 bytes");
  const deep = (depth: number) =>
    JSON.parse(`${'{"not":'.repeat(depth)}{}${"}".repeat(depth)}`) as Record<string, unknown>;
  expect(await fault(deep(schemaDepthMax - 1))).toBe("");
  expect(await fault(deep(schemaDepthMax + 1))).toBe("it nests deeper than 128 levels");
  expect(await fault(deep(5000))).toBe("it nests deeper than 128 levels");
});
