// Checks a call's input against its tool's JSON Schema before anything is launched. The validator
// is imported at the first check; compiled schemas are kept by their text, so that a changed schema
// file is a new schema and an unchanged one costs a look-up.

import type { ErrorObject, ValidateFunction } from "ajv";
import { fail } from "../abi/mod.ts";

/** Compiled schemas kept; the one not used for longest goes first. */
const compiledSchemasMax = 256;

/** Branch complaints quoted for an `anyOf` that nothing matches. */
const branchesQuotedMax = 3;

interface Compiler {
  compile(schema: object): ValidateFunction;
  removeSchema(schema: object): unknown;
}

const compiled = new Map<string, ValidateFunction>();
const compilers = new Map<Draft, Promise<Compiler>>();

type Draft = "draft-07" | "2019-09" | "2020-12";

/** Throws EINVAL when the input breaks the schema, naming the path, or the schema is no schema. */
export async function checkInput(
  tool: string,
  schema: Readonly<Record<string, unknown>>,
  input: unknown,
): Promise<void> {
  const validate = await validatorOf(tool, schema);
  if (validate(input)) return;
  const problem = describe(validate.errors ?? []);
  fail("EINVAL", `the input of tool "${tool}" does not fit its schema: ${problem}`, {
    hint: `see its schema with tsh {"args":["help","${tool}"]}`,
  });
}

async function validatorOf(
  tool: string,
  schema: Readonly<Record<string, unknown>>,
): Promise<ValidateFunction> {
  const text = JSON.stringify(schema);
  const known = compiled.get(text);
  if (known) {
    compiled.delete(text);
    compiled.set(text, known);
    return known;
  }
  const compiler = await compilerOf(draftOf(schema));
  // A copy is compiled and then forgotten by the compiler, which would keep every schema for ever.
  const copy = JSON.parse(text) as object;
  try {
    const validate = compiler.compile(copy);
    compiled.set(text, validate);
    for (const oldest of compiled.keys()) {
      if (compiled.size <= compiledSchemasMax) break;
      compiled.delete(oldest);
    }
    return validate;
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    return fail("EINVAL", `the schema of tool "${tool}" is malformed: ${reason}`);
  } finally {
    compiler.removeSchema(copy);
  }
}

function draftOf(schema: Readonly<Record<string, unknown>>): Draft {
  const name = String(schema["$schema"] ?? "");
  if (/draft-0[3467]/.test(name)) return "draft-07";
  return name.includes("2019-09") ? "2019-09" : "2020-12";
}

function compilerOf(draft: Draft): Promise<Compiler> {
  const known = compilers.get(draft);
  if (known) return known;
  const made = makeCompiler(draft);
  compilers.set(draft, made);
  return made;
}

async function makeCompiler(draft: Draft): Promise<Compiler> {
  const [{ default: Ajv }, { default: addFormats }] = await Promise.all([
    importDraft(draft),
    import("ajv-formats"),
  ]);
  // Schemas come from outside and may carry words that are not ours. Leaving the meta-schema out
  // saves its compilation, half of the cost; a keyword of a wrong type is still refused by itself.
  const ajv = new Ajv({
    strict: false,
    validateSchema: false,
    meta: false,
    addUsedSchema: false,
    logger: false,
  });
  addFormats(ajv);
  return ajv;
}

function importDraft(draft: Draft) {
  if (draft === "draft-07") return import("ajv");
  return draft === "2019-09" ? import("ajv/dist/2019.js") : import("ajv/dist/2020.js");
}

function describe(errors: readonly ErrorObject[]): string {
  const last = errors.at(-1);
  if (last === undefined) return "it is not valid";
  const branches = last.keyword === "anyOf" || last.keyword === "oneOf";
  const chosen = branches && errors.length > 1 ? errors.slice(0, -1) : [last];
  const texts = new Set(chosen.slice(0, branchesQuotedMax).map(describeOne));
  return [...texts].join(" or ");
}

function describeOne(error: ErrorObject): string {
  const extra = (error.params as Record<string, unknown>)["additionalProperty"];
  const named = typeof extra === "string" ? ` ${JSON.stringify(extra)}` : "";
  const allowed = (error.params as Record<string, unknown>)["allowedValues"];
  const values = Array.isArray(allowed)
    ? ` ${allowed.map((one) => JSON.stringify(one)).join(" ")}`
    : "";
  return `${error.instancePath || "the input"} ${error.message ?? "is wrong"}${named}${values}`;
}
