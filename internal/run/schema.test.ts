import { expect, test } from "bun:test";
import { CodedError } from "../abi/mod.ts";
import { checkInput } from "./schema.ts";

const schema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: {
    path: { type: "string", minLength: 1 },
    cmd: { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] },
    kind: { enum: ["a", "b"] },
    when: { type: "string", format: "date-time" },
  },
  required: ["path"],
  additionalProperties: false,
};

async function problem(input: unknown, of: Record<string, unknown> = schema): Promise<string> {
  try {
    await checkInput("t", of, input);
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    expect(error.code).toBe("EINVAL");
    return error.message.replace('the input of tool "t" does not fit its schema: ', "");
  }
  return "";
}

test("what fits passes and is not changed", async () => {
  const input = { path: "a", cmd: ["x"], kind: "b", when: "2026-01-01T00:00:00Z" };
  expect(await problem(input)).toBe("");
  expect(input).toEqual({ path: "a", cmd: ["x"], kind: "b", when: "2026-01-01T00:00:00Z" });
});

test.each<[unknown, string]>([
  [{}, "the input must have required property 'path'"],
  [{ path: 1 }, "/path must be string"],
  [{ path: "" }, "/path must NOT have fewer than 1 characters"],
  [{ path: "a", more: 1 }, 'the input must NOT have additional properties "more"'],
  [{ path: "a", kind: "c" }, '/kind must be equal to one of the allowed values "a" "b"'],
  [{ path: "a", cmd: 3 }, "/cmd must be string or /cmd must be array"],
  [{ path: "a", when: "now" }, '/when must match format "date-time"'],
  [[], "the input must be object"],
  [null, "the input must be object"],
])("%j is refused with the place", async (input, message) => {
  expect(await problem(input)).toBe(message);
});

test("each draft is read by its own rules", async () => {
  const tuple = { type: "object", properties: { t: { items: [{ type: "string" }] } } };
  const old = { $schema: "http://json-schema.org/draft-07/schema#", ...tuple };
  expect(await problem({ t: [1] }, old)).toBe("/t/0 must be string");
  const prefix = { type: "object", properties: { t: { prefixItems: [{ type: "string" }] } } };
  expect(await problem({ t: [1] }, prefix)).toBe("/t/0 must be string");
  const dependent = { type: "object", dependentRequired: { a: ["b"] } };
  const middle = { $schema: "https://json-schema.org/draft/2019-09/schema", ...dependent };
  expect(await problem({ a: 1 }, middle)).toContain("must have property b");
});

test.each([
  { type: "objct" },
  { type: "object", required: "a" },
  { $ref: "https://example.org/x" },
])("a malformed schema %j makes the tool unavailable", async (malformed) => {
  expect(await problem({}, malformed)).toStartWith('the schema of tool "t" is malformed: ');
});

test("unknown words and two schemas of one id are no obstacle", async () => {
  const one = { $id: "https://example.org/s", type: "object", "x-order": 1 };
  expect(await problem({}, one)).toBe("");
  expect(await problem({}, { ...one, required: ["a"] })).toContain("'a'");
});

test("many changing schemas do not pile up", async () => {
  for (let n = 0; n < 600; n += 1) {
    expect(await problem({}, { type: "object", required: [`p${n}`] })).toContain(`'p${n}'`);
  }
});
