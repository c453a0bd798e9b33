// Our messages and tools as the SDK's prompt, and the names of tools on the wire. OpenAI accepts
// only letters, digits, `_` and `-` in a function's name, our tools are called `fs.read`: names are
// translated for one request and translated back in the answer. Pure.

import type { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { ModelMessage, ModelTool } from "./types.ts";

export type ChatModel = ReturnType<ReturnType<typeof createOpenAICompatible>["chatModel"]>;
export type CallOptions = Parameters<ChatModel["doStream"]>[0];
type PromptPart = CallOptions["prompt"][number];
type FunctionTool = Extract<NonNullable<CallOptions["tools"]>[number], { type: "function" }>;

/** Longest function name that every server accepts. */
const wireNameCharsMax = 64;

export interface WireNames {
  toWire(name: string): string;
  /** The tool's own name; a name nobody offered comes back as it is. */
  fromWire(name: string): string;
}

/** One-to-one for the offered tools: a name that collides after translation gets a number. */
export function wireNames(tools: readonly ModelTool[]): WireNames {
  const there = new Map<string, string>();
  const back = new Map<string, string>();
  for (const { name } of tools) {
    let wire = translate(name);
    for (let n = 2; back.has(wire); n += 1) {
      wire = `${translate(name).slice(0, wireNameCharsMax - 4)}_${n}`;
    }
    there.set(name, wire);
    back.set(wire, name);
  }
  return {
    toWire: (name) => there.get(name) ?? translate(name),
    fromWire: (name) => (there.has(name) ? name : (back.get(name) ?? name)),
  };
}

function translate(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, wireNameCharsMax) || "_";
}

export function wirePrompt(messages: readonly ModelMessage[], names: WireNames): PromptPart[] {
  return messages.map((message) => wireMessage(message, names));
}

function wireMessage(message: ModelMessage, names: WireNames): PromptPart {
  switch (message.role) {
    case "system":
      return { role: "system", content: message.text };
    case "user":
      return { role: "user", content: [{ type: "text", text: message.text }] };
    case "assistant":
      return {
        role: "assistant",
        content: [
          ...(message.text === "" ? [] : [{ type: "text" as const, text: message.text }]),
          ...message.calls.map((call) => ({
            type: "tool-call" as const,
            toolCallId: call.id,
            toolName: names.toWire(call.name),
            input: call.args ?? {},
          })),
        ],
      };
    case "tool":
      return {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: message.call,
            toolName: names.toWire(message.name),
            output: {
              type: message.status === "ok" ? "text" : "error-text",
              value: message.content,
            },
          },
        ],
      };
  }
}

export function wireTools(tools: readonly ModelTool[], names: WireNames): FunctionTool[] {
  return tools.map((tool) => ({
    type: "function",
    name: names.toWire(tool.name),
    description: tool.description,
    inputSchema: tool.schema as FunctionTool["inputSchema"],
  }));
}

/** The arguments of a call as an object; an empty text is an empty object; else undefined. */
export function parseArguments(raw: string): Record<string, unknown> | undefined {
  if (raw.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(raw);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
