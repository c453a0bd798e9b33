// From what a server says about its tools to the controls of tool objects. A tool whose name or
// schema cannot be an object's is skipped and named with the reason; it never stops the others.

import { controlBytesMax, fail, isObjectName, nameBytesMax, quoted } from "../abi/mod.ts";
import { type JsonObject, jsonDepthMax, pathFault } from "../control/mod.ts";
import { definitionText, type ToolDefinition } from "./definition.ts";

export interface ProjectionInput {
  readonly server: string;
  /** Absolute path of the runtime configuration as the agent sees it. */
  readonly runtimeConfig: string;
  readonly tools: readonly ToolDefinition[];
  /** Names of the server's tools to take; all of them when absent. */
  readonly only?: readonly string[];
}

/** One tool as an object: its name and the contents of its controls. */
export interface Projected {
  readonly tool: string;
  readonly object: string;
  readonly description: string;
  /** The server's own, dialect and all. */
  readonly schema: JsonObject;
  readonly cap: readonly string[];
  readonly mcp: string;
  /** The text whose SHA-256 pins the definition. */
  readonly definition: string;
}

export interface Skipped {
  readonly tool: string;
  readonly reason: string;
}

export interface Projection {
  /** Sorted by name, whatever order the server has. */
  readonly projected: readonly Projected[];
  readonly skipped: readonly Skipped[];
}

/** Throws EINVAL for a server name or a runtime configuration that no locator can hold. */
export function projectTools(input: ProjectionInput): Projection {
  const { server, runtimeConfig, tools, only } = input;
  if (!isObjectName(server)) {
    fail("EINVAL", `server name ${quoted(server)} is not valid`, { hint: nameHint });
  }
  const fault = pathFault(runtimeConfig);
  if (fault !== undefined) {
    fail("EINVAL", `runtime configuration ${quoted(runtimeConfig)}: ${fault.reason}`);
  }
  const projected: Projected[] = [];
  const skipped: Skipped[] = [];
  const chosen = only && new Set(only);
  const times = new Map<string, number>();
  for (const { name } of tools) times.set(name, (times.get(name) ?? 0) + 1);
  for (const tool of tools) {
    if (chosen && !chosen.has(tool.name)) continue;
    const one = projectOne(tool, input, times.get(tool.name) ?? 1);
    if (typeof one === "string") skipped.push({ tool: tool.name, reason: one });
    else projected.push(one);
  }
  for (const name of chosen ?? []) {
    if (!times.has(name)) skipped.push({ tool: name, reason: "the server has no such tool" });
  }
  projected.sort((a, b) => (a.object < b.object ? -1 : 1));
  return { projected, skipped };
}

const nameHint =
  "use 1 to 64 of A-Z a-z 0-9 . _ + -, first a letter or digit, not ending in .sock or .d";

/** The object, or why there is none. */
function projectOne(
  tool: ToolDefinition,
  { server, runtimeConfig }: ProjectionInput,
  times: number,
): Projected | string {
  const object = `${server}.${tool.name}`;
  if (tool.name === "") return "it has no name";
  if (!isObjectName(object)) return nameFault(object);
  if (besideObjects.test(object)) return `name ${quoted(object)} ends as files beside objects do`;
  if (times > 1) return `the server has ${times} tools of this name`;
  const { inputSchema: schema } = tool;
  const fault = schemaFault(schema);
  if (fault !== undefined) return fault;
  const description = descriptionText(tool, server);
  if (byteLength(description) > controlBytesMax) {
    return `its description is longer than ${controlBytesMax} bytes`;
  }
  let definition: string;
  try {
    definition = definitionText(tool);
  } catch (error) {
    return `its schemas cannot be pinned: ${(error as Error).message}`;
  }
  const mcp = `transport=stdio\nconfig=${runtimeConfig}\nserver=${server}\ntool=${tool.name}\n`;
  const cap = capWords(tool);
  return {
    tool: tool.name,
    object,
    description,
    schema: schema as JsonObject,
    cap,
    mcp,
    definition,
  };
}

/** What is written beside an object's executable: a tool of such a name would take another's file. */
const besideObjects = /\.(?:manifest|definition)\.json$/;

function nameFault(object: string): string {
  if (/^[\w.+-]*$/.test(object)) {
    const length = object.length;
    if (length > nameBytesMax)
      return `name ${quoted(object)} has ${length} bytes, of ${nameBytesMax}`;
    return `name ${quoted(object)} ends in .sock or .d`;
  }
  return `name ${quoted(object)} holds more than A-Z a-z 0-9 . _ + -`;
}

function schemaFault(schema: unknown): string | undefined {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
    return "its input schema is not an object";
  }
  if (!Object.hasOwn(schema, "type") || (schema as JsonObject)["type"] !== "object") {
    return 'its input schema is not of "type": "object"';
  }
  // Depth first: what nests without end could not be written as text either.
  if (depthOver(schema, jsonDepthMax)) return `its input schema nests deeper than ${jsonDepthMax}`;
  if (byteLength(JSON.stringify(schema)) > controlBytesMax - 1) {
    return `its input schema is larger than ${controlBytesMax} bytes`;
  }
  return undefined;
}

/** Whether arrays and objects nest more than `max` deep; walks without recursion. */
export function depthOver(value: unknown, max: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > max + 1) return true;
    level = level.flatMap((one) =>
      typeof one === "object" && one !== null ? Object.values(one) : [],
    );
  }
  return false;
}

/** A control of whole lines: what a terminal or a reader would stumble over is spelled out. */
function descriptionText({ description, title, name }: ToolDefinition, server: string): string {
  const said = [description, title].find((text) => text !== undefined && text.trim() !== "");
  const text = (said ?? `Tool ${name} of the MCP server ${server}`)
    .replace(/\r\n?/g, "\n")
    .toWellFormed()
    .replace(/^\ufeff/, "")
    .replace(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, (character) => {
      return `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
    })
    .trimEnd();
  return `${text}\n`;
}

/** From the server's own hints; the words describe and grant nothing. */
function capWords({ annotations }: ToolDefinition): string[] {
  const words = annotations?.readOnlyHint === true ? ["read"] : ["read", "write"];
  return annotations?.openWorldHint === true ? [...words, "network"] : words;
}

const byteLength = (text: string): number => new TextEncoder().encode(text).length;
