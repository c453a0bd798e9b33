// What a server says about one tool, and the text whose digest pins it. The values are the server's
// own: nothing here is checked yet but the types that are named.

import { canonicalJson } from "./canonical.ts";

export interface ToolDefinition {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  /** As the server sent it: a JSON Schema, if it keeps to the protocol. */
  readonly inputSchema: unknown;
  readonly outputSchema?: unknown;
  readonly annotations?: ToolAnnotations;
}

/** Hints that a server gives about its own tool; they describe and grant nothing. */
export interface ToolAnnotations {
  readonly readOnlyHint?: boolean;
  readonly openWorldHint?: boolean;
}

/**
 * Canonical JSON of what a model and a caller rely on: name, description and schemas; absent ones are
 * left out. Its SHA-256 is the definition's digest. Throws EINVAL for a schema that nests too deep.
 */
export function definitionText(tool: ToolDefinition): string {
  const { name, description, inputSchema, outputSchema } = tool;
  return canonicalJson({ name, description, inputSchema, outputSchema });
}
