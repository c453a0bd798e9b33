// Checks values against JSON Schemas that somebody else wrote, each by the draft that it names. The
// validator is imported at the first check; compiled schemas are kept by their text, so that a changed
// schema is a new schema and an unchanged one costs a look-up. Size and depth are bounded before
// anything is compiled, because the time of a compilation follows from them; what a value costs is
// counted, because references can make it grow without bound.

import type { ErrorObject, ValidateFunction } from "ajv";
import { fromDraft04 } from "./draft-04.ts";
import { everySchema, hasEndlessReference } from "./subschemas.ts";

/** Compiled schemas kept; the one not used for longest goes first. */
const compiledSchemasMax = 256;

/** Bytes of a schema's text, the bound of a control file. Past it the schema is not compiled. */
export const schemaBytesMax = 256 * 1024;

/** Nested arrays and objects of a schema. Past it the schema is not compiled. */
export const schemaDepthMax = 128;

/** Schemas applied to one value and its parts. Past it the value is not judged to its end. */
export const applicationsMax = 1_000_000;

/** Branch complaints quoted for an `anyOf` that nothing matches. */
const branchesQuotedMax = 3;

interface Compiler {
  compile(schema: object): ValidateFunction;
  removeSchema(schema: object): unknown;
}

const compiled = new Map<string, ValidateFunction>();
const compilers = new Map<Draft, Promise<Compiler>>();

type Draft = "draft-07" | "2019-09" | "2020-12";

/** Why a schema is none, or cannot be used here. */
export class SchemaFault extends Error {
  override readonly name = "SchemaFault";
}

/** What in `value` breaks the schema, or undefined when it fits; `whole` names it. Throws SchemaFault. */
export async function schemaProblem(
  schema: Readonly<Record<string, unknown>>,
  value: unknown,
  whole: string,
): Promise<string | undefined> {
  const validate = await validatorOf(schema);
  applications = 0;
  return validate(value) ? undefined : describe(validate.errors ?? [], whole);
}

async function validatorOf(schema: Readonly<Record<string, unknown>>): Promise<ValidateFunction> {
  const text = textOf(schema);
  const known = compiled.get(text);
  if (known) {
    compiled.delete(text);
    compiled.set(text, known);
    return known;
  }
  const draft = draftOf(schema);
  const compiler = await compilerOf(draft === "draft-04" ? "draft-07" : draft);
  // A copy is compiled and then forgotten by the compiler, which would keep every schema for ever.
  const copy = JSON.parse(text) as Record<string, unknown>;
  if (draft === "draft-04") fromDraft04(everySchema(copy));
  if (hasEndlessReference(copy)) throw new SchemaFault("its references go round without end");
  // Each schema gets a comment, and each comment is counted while a value is judged.
  for (const one of everySchema(copy)) one["$comment"] = "counted";
  try {
    const validate = compiler.compile(copy);
    compiled.set(text, validate);
    for (const oldest of compiled.keys()) {
      if (compiled.size <= compiledSchemasMax) break;
      compiled.delete(oldest);
    }
    return validate;
  } catch (thrown) {
    throw new SchemaFault(thrown instanceof Error ? thrown.message : String(thrown));
  } finally {
    compiler.removeSchema(copy);
  }
}

function textOf(schema: object): string {
  if (nestsDeeper(schema, schemaDepthMax)) {
    throw new SchemaFault(`it nests deeper than ${schemaDepthMax} levels`);
  }
  const text = JSON.stringify(schema);
  if (text.length * 3 > schemaBytesMax && new TextEncoder().encode(text).length > schemaBytesMax) {
    throw new SchemaFault(`it is larger than ${schemaBytesMax} bytes`);
  }
  return text;
}

/** Level by level, so that no depth can overflow the stack. */
function nestsDeeper(value: unknown, max: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > max) return true;
    level = level.flatMap((one) => Object.values(one as object)).filter(isNesting);
  }
  return false;
}

const isNesting = (value: unknown): boolean => typeof value === "object" && value !== null;

function draftOf(schema: Readonly<Record<string, unknown>>): Draft | "draft-04" {
  const name = String(schema["$schema"] ?? "");
  if (name.includes("draft-04")) return "draft-04";
  if (/draft-0[367]/.test(name)) return "draft-07";
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
    logger: false,
    $comment: countApplication,
  });
  addFormats(ajv);
  // The validator's own compares each item with each other one.
  ajv.removeKeyword("uniqueItems");
  ajv.addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    validate: (wanted: boolean, items: unknown[]) => !wanted || areUnique(items),
    error: { message: "must NOT have duplicate items" },
  });
  return ajv;
}

/** Of the value that is being judged. */
let applications = 0;

function countApplication(): void {
  applications += 1;
  if (applications <= applicationsMax) return;
  throw new SchemaFault(`it takes more than ${applicationsMax} steps for this value`);
}

function areUnique(items: readonly unknown[]): boolean {
  return new Set(items.map((item) => JSON.stringify(item, inOrder))).size === items.length;
}

/** Members in one order, so that equal values have equal texts. */
function inOrder(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function importDraft(draft: Draft) {
  if (draft === "draft-07") return import("ajv");
  return draft === "2019-09" ? import("ajv/dist/2019.js") : import("ajv/dist/2020.js");
}

function describe(errors: readonly ErrorObject[], whole: string): string {
  const last = errors.at(-1);
  if (last === undefined) return "it is not valid";
  const branches = last.keyword === "anyOf" || last.keyword === "oneOf";
  const chosen = branches && errors.length > 1 ? errors.slice(0, -1) : [last];
  const texts = new Set(chosen.slice(0, branchesQuotedMax).map((one) => describeOne(one, whole)));
  return [...texts].join(" or ");
}

function describeOne(error: ErrorObject, whole: string): string {
  const extra = (error.params as Record<string, unknown>)["additionalProperty"];
  const named = typeof extra === "string" ? ` ${JSON.stringify(extra)}` : "";
  const allowed = (error.params as Record<string, unknown>)["allowedValues"];
  const values = Array.isArray(allowed)
    ? ` ${allowed.map((one) => JSON.stringify(one)).join(" ")}`
    : "";
  return `${error.instancePath || whole} ${error.message ?? "is wrong"}${named}${values}`;
}
