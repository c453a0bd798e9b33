// Reads all pages of a server's tools. What is no tool at all is kept as one without a name, so that
// whoever projects can say so; one bad entry never hides the others.

import { fail, isCoded, quoted } from "../abi/mod.ts";
import type { ToolDefinition } from "../mcp-tool/mod.ts";
import { listBytesMax, listMs, pagesMax, toolsMax } from "./bounds.ts";
import { ask, type Conversation, isUnknownMethod } from "./conversation.ts";
import { isMembers } from "./message.ts";

/** EINVAL past `pagesMax` and `toolsMax` and for a cursor that comes again, ETIMEDOUT past `listMs`. */
export async function readTools(
  conversation: Conversation,
  signal: AbortSignal,
): Promise<readonly ToolDefinition[]> {
  const refuse = (reason: string) =>
    fail(
      "EINVAL",
      `the tools of MCP server ${quoted(conversation.label)} cannot be read: ${reason}`,
    );
  const deadline = performance.now() + listMs;
  const tools: ToolDefinition[] = [];
  const cursors = new Set<string>();
  const bytesBefore = conversation.transport.bytesRead;
  let cursor: string | undefined;
  for (let page = 0; page < pagesMax; page++) {
    const result = await askPage(conversation, cursor, signal, deadline - performance.now());
    if (result === undefined) return tools;
    if (!Array.isArray(result["tools"])) return refuse('"tools" is no list');
    for (const one of result["tools"]) tools.push(toolDefinition(one));
    if (tools.length > toolsMax) return refuse(`there are more than ${toolsMax}`);
    if (conversation.transport.bytesRead - bytesBefore > listBytesMax) {
      return fail(
        "EMSGSIZE",
        `the tools of MCP server ${quoted(conversation.label)} take more than ${listBytesMax} bytes`,
      );
    }
    const next = result["nextCursor"];
    if (next === undefined || next === null) return tools;
    if (typeof next !== "string") return refuse("a cursor is no text");
    if (cursors.has(next)) return refuse(`cursor ${quoted(next)} comes again`);
    cursors.add(next);
    cursor = next;
  }
  return refuse(`there are more than ${pagesMax} pages`);
}

/** Undefined from a server that says that it has no tools. */
async function askPage(
  conversation: Conversation,
  cursor: string | undefined,
  signal: AbortSignal,
  leftMs: number,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const { client, pageMs } = conversation;
  try {
    return await ask(conversation, {
      method: "tools/list",
      params: cursor === undefined ? {} : { cursor },
      what: "tools/list",
      signal,
      idleMs: pageMs,
      totalMs: Math.max(1, Math.min(pageMs, leftMs)),
    });
  } catch (error) {
    // A server without the capability is asked all the same, since some forget to declare it.
    const declared = client.getServerCapabilities()?.tools !== undefined;
    if (!declared && isCoded(error) && isUnknownMethod(error)) return undefined;
    throw error;
  }
}

function toolDefinition(value: unknown): ToolDefinition {
  const tool = isMembers(value) ? value : {};
  const notes = isMembers(tool["annotations"]) ? tool["annotations"] : {};
  const title = textOf(tool["title"]) ?? textOf(notes["title"]);
  const description = textOf(tool["description"]);
  const { readOnlyHint, openWorldHint } = notes;
  return {
    name: textOf(tool["name"]) ?? "",
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    inputSchema: tool["inputSchema"],
    ...(tool["outputSchema"] !== undefined && { outputSchema: tool["outputSchema"] }),
    annotations: {
      ...(typeof readOnlyHint === "boolean" && { readOnlyHint }),
      ...(typeof openWorldHint === "boolean" && { openWorldHint }),
    },
  };
}

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" ? value : undefined;
