// One call of a tool, and whether its structured content keeps to the tool's output schema. A result
// that does not is still the result: what is wrong is said beside it.

import { quoted } from "../abi/mod.ts";
import { SchemaFault, schemaProblem } from "../json-schema/mod.ts";
import type { CallResult } from "../mcp-tool/mod.ts";
import { ask, type Conversation } from "./conversation.ts";
import { isMembers } from "./message.ts";
import type { CallOptions } from "./types.ts";

export interface ToolCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** The tool's output schema as the server sent it. */
  readonly schema: unknown;
}

export async function callTool(
  conversation: Conversation,
  { name, args, schema }: ToolCall,
  options: CallOptions,
): Promise<CallResult> {
  const result = await ask(conversation, {
    method: "tools/call",
    params: { name, arguments: args },
    what: `tool ${quoted(name)}`,
    ...options,
  });
  const { content = [], structuredContent, isError } = result;
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  const failed = isError === true;
  const mismatch = await outputMismatch(schema, structuredContent, failed);
  return {
    content: blocks,
    isError: failed,
    ...(structuredContent !== undefined && { structuredContent }),
    ...(mismatch !== undefined && { mismatch }),
  };
}

async function outputMismatch(
  schema: unknown,
  value: unknown,
  failed: boolean,
): Promise<string | undefined> {
  if (schema === undefined) return undefined;
  // A failed call owes no structure; what it gives all the same is checked.
  if (value === undefined) return failed ? undefined : "there is no structured content";
  if (!isMembers(schema)) return "the output schema is no object";
  try {
    return await schemaProblem(schema, value, "the structured content");
  } catch (error) {
    if (!(error instanceof SchemaFault)) throw error;
    return `the output schema cannot be used: ${error.message}`;
  }
}
