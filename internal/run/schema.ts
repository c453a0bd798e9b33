// Checks a call's input against its tool's JSON Schema before anything is launched.

import { fail } from "../abi/mod.ts";
import { SchemaFault, schemaProblem } from "../json-schema/mod.ts";

/** Throws EINVAL when the input breaks the schema, naming the path, or the schema is no schema. */
export async function checkInput(
  tool: string,
  schema: Readonly<Record<string, unknown>>,
  input: unknown,
): Promise<void> {
  let problem: string | undefined;
  try {
    problem = await schemaProblem(schema, input, "the input");
  } catch (thrown) {
    if (!(thrown instanceof SchemaFault)) throw thrown;
    fail("EINVAL", `the schema of tool "${tool}" is malformed: ${thrown.message}`);
  }
  if (problem === undefined) return;
  fail("EINVAL", `the input of tool "${tool}" does not fit its schema: ${problem}`, {
    hint: `see its schema with tsh {"args":["help","${tool}"]}`,
  });
}
