import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { writeCandidate } from "../../testdata/install/candidates.ts";
import { checkManifest, checkSchemas } from "./mod.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync("/tmp/ctx-schemas-");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function said(controls: Record<string, unknown>): Promise<string> {
  const checked = checkManifest(writeCandidate(folder, { controls }));
  try {
    await checkSchemas(checked.manifest);
    return "valid";
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return `${code} ${message}`;
  } finally {
    checked.close();
  }
}

const draft07 = "http://json-schema.org/draft-07/schema#";

test("schemas of every draft are taken, also those that an empty input does not fit", async () => {
  for (const schema of [
    { type: "object" },
    { $schema: draft07, type: "object", required: ["a"], definitions: { a: true } },
    { $schema: "https://json-schema.org/draft/2020-12/schema", type: "object", $defs: {} },
  ]) {
    expect(await said({ schema, program: schema })).toBe("valid");
  }
});

test("what is no schema is refused at its control, in either of the two", async () => {
  for (const wrong of [
    { type: "object", properties: 5 },
    { type: "object", properties: { a: { $ref: "#/nowhere" } } },
    { type: "object", properties: { a: { pattern: "(" } } },
    { type: "object", allOf: [{ $ref: "#" }] },
  ]) {
    expect(await said({ schema: wrong })).toMatch(
      /^EINVAL "\S+" line \d+, column \d+: field "controls.schema": it is no JSON Schema: \S/,
    );
    expect(await said({ program: wrong })).toContain('field "controls.program": it is no');
  }
});
