// `ctxmcp project --diff`: what a server says now against what was projected. Of a tool with an output
// schema there is a file with the definition as it was; the manifest tells description and input schema,
// and the executable whether anything else changed.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fail, isObjectName, quoted } from "../../internal/abi/mod.ts";
import { wholeDiff } from "../../internal/builtin/mod.ts";
import { print, printJson, unreadable } from "../../internal/cli/mod.ts";
import { manifestName, type Projected, type Skipped } from "../../internal/mcp-tool/mod.ts";

export interface DifferenceInput {
  readonly server: string;
  readonly out: string;
  readonly only: readonly string[] | undefined;
  readonly projected: readonly Projected[];
  readonly skipped: readonly Skipped[];
}

interface Difference {
  readonly object: string;
  readonly what: "changed" | "new" | "gone" | "cannot be projected now";
  /** Fields that changed, with how. */
  readonly fields: readonly { readonly field: string; readonly diff?: string }[];
}

/** Where the definition of a tool with an output schema is kept, beside its manifest. */
export const definitionName = (object: string): string => `${object}.definition.json`;

export function hasOutputSchema({ definition }: Projected): boolean {
  return (JSON.parse(definition) as Members)["outputSchema"] !== undefined;
}

/** Files of a projection that are read. Past it EMSGSIZE; larger ones are none of ours. */
const fileBytesMax = 4 * 1024 * 1024;

/** Prints what differs; 1 when anything does. */
export function differences(input: DifferenceInput, json: boolean): number {
  const projectedBefore = new Set(objectsIn(input));
  const now = new Map(input.projected.map((tool) => [tool.object, tool]));
  const found: Difference[] = [];
  for (const [object, tool] of now) {
    if (!projectedBefore.has(object)) found.push({ object, what: "new", fields: [] });
    else found.push(...changed(input.out, tool));
  }
  const skipped = new Set(input.skipped.map(({ tool }) => `${input.server}.${tool}`));
  for (const object of projectedBefore) {
    if (now.has(object)) continue;
    const what = skipped.has(object) && !isMissing(input, object) ? unfit : "gone";
    found.push({ object, what, fields: [] });
  }
  found.sort((a, b) => (a.object < b.object ? -1 : 1));
  if (json) printJson({ differences: found });
  else print(found.length === 0 ? "nothing has changed" : found.map(textOf).join("\n"));
  return found.length === 0 ? 0 : 1;
}

const unfit = "cannot be projected now";

function isMissing({ server, skipped }: DifferenceInput, object: string): boolean {
  return skipped.some(({ tool, reason }) => {
    return `${server}.${tool}` === object && reason === "the server has no such tool";
  });
}

/** Objects of this server, and of the chosen tools, that have a manifest in the folder. */
function objectsIn({ server, out, only }: DifferenceInput): string[] {
  let names: string[];
  try {
    names = readdirSync(out);
  } catch (error) {
    return unreadable("read", out, error);
  }
  const suffix = manifestName("");
  const objects = names
    .filter((name) => name.startsWith(`${server}.`) && name.endsWith(suffix))
    .map((name) => name.slice(0, -suffix.length))
    .filter(isObjectName);
  // A name with a dot in it may be of a server whose name has one.
  const own = objects.filter((object) => serverOf(out, object) === server);
  if (only === undefined) return own;
  return own.filter((object) => only.includes(object.slice(server.length + 1)));
}

type Members = Readonly<Record<string, unknown>>;

const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function serverOf(out: string, object: string): string | undefined {
  const locator = controlsOf(out, object)["mcp"];
  if (typeof locator !== "string") return undefined;
  return /^server=(.*)$/m.exec(locator)?.[1];
}

function controlsOf(out: string, object: string): Members {
  const manifest = readJson(join(out, manifestName(object)));
  const controls = isMembers(manifest) ? manifest["controls"] : undefined;
  return isMembers(controls) ? controls : {};
}

function changed(out: string, tool: Projected): Difference[] {
  const fields: { field: string; diff?: string }[] = [];
  const add = (field: string, before: string | undefined, after: string | undefined) => {
    if (before === after) return;
    fields.push({ field, diff: wholeDiff(field, before, after ?? "") });
  };
  const current = JSON.parse(tool.definition) as Members;
  const before = definitionOf(out, tool.object);
  if (before !== undefined) {
    add("description", textIn(before["description"]), textIn(current["description"]));
    add("input schema", pretty(before["inputSchema"]), pretty(current["inputSchema"]));
    add("output schema", pretty(before["outputSchema"]), pretty(current["outputSchema"]));
  } else {
    const controls = controlsOf(out, tool.object);
    add("description", textIn(controls["description"]), tool.description);
    add("input schema", pretty(schemaIn(controls["schema"])), pretty(sorted(tool.schema)));
    const known = fields.length > 0 || pinned(out, tool.object) === digest(tool.definition);
    // A description can change in what its control does not hold, such as white space at its end.
    if (!known) fields.push({ field: hasOutputSchema(tool) ? "output schema" : "description" });
  }
  return fields.length === 0 ? [] : [{ object: tool.object, what: "changed", fields }];
}

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The digest that the executable carries. */
function pinned(out: string, object: string): string | undefined {
  const text = readText(join(out, object));
  return /^# mcp-definition: sha256:([0-9a-f]{64})$/m.exec(text ?? "")?.[1];
}

/** What was said then, if it is still what the executable pins. */
function definitionOf(out: string, object: string): Members | undefined {
  const text = readText(join(out, definitionName(object)))?.trimEnd();
  if (text === undefined || digest(text) !== pinned(out, object)) return undefined;
  const value: unknown = JSON.parse(text);
  return isMembers(value) ? value : undefined;
}

const textIn = (value: unknown): string | undefined =>
  typeof value === "string" ? (value.endsWith("\n") ? value : `${value}\n`) : undefined;

const pretty = (value: unknown): string | undefined =>
  value === undefined ? undefined : `${JSON.stringify(value, null, 2)}\n`;

/** A manifest's schema is an object or the text of one; members in one order, to be compared. */
function schemaIn(value: unknown): unknown {
  try {
    return sorted(typeof value === "string" ? JSON.parse(value) : value);
  } catch {
    return value;
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isMembers(value)) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, one]) => [name, sorted(one)]));
}

function readJson(path: string): unknown {
  const text = readText(path);
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch (error) {
    return fail("EINVAL", `${quoted(path)} is not JSON`, { cause: error });
  }
}

function readText(path: string): string | undefined {
  try {
    if (statSync(path).size > fileBytesMax) {
      fail("EMSGSIZE", `${quoted(path)} is larger than ${fileBytesMax} bytes`);
    }
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return undefined;
    return unreadable("read", path, error);
  }
}

function textOf({ object, what, fields }: Difference): string {
  const names = fields.map(({ field }) => field).join(", ");
  const head = `${object}: ${what}${names === "" ? "" : `: ${names}`}`;
  return [head, ...fields.map(({ diff }) => diff?.trimEnd() ?? "")].filter(Boolean).join("\n");
}
