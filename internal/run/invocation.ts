// What a step reads: the invocation with the earlier turns as text. A turn is whole or not there, so
// that an agent never sees half an exchange; what does not fit is dropped from the oldest on.

import type { Invocation, Observation } from "../envelope/mod.ts";
import { contextBytesMax, encodeInvocation, envelopeLineBytesMax } from "../envelope/mod.ts";
import { buildMessages, type PromptMessage } from "../prompt/mod.ts";
import type { HistoryItem } from "../session/mod.ts";

export interface InvocationInput {
  readonly run: string;
  readonly step: number;
  readonly input: string;
  readonly history: readonly HistoryItem[];
  readonly toolContext: string;
  readonly observation: Observation | null;
}

/** The invocation within every bound. Throws EMSGSIZE when it does not fit without any history. */
export function buildInvocation(given: InvocationInput): { invocation: Invocation; line: string } {
  const { run, step, input, toolContext, observation } = given;
  const bare: Invocation = {
    schema: "cortexfs.agent-invocation/v1",
    run,
    step,
    input,
    history_messages: "[]",
    tool_context: toolContext,
    observation,
  };
  const room = envelopeLineBytesMax - Buffer.byteLength(encodeInvocation(bare));
  const history_messages = historyText(given.history, room);
  const invocation = { ...bare, history_messages };
  return { invocation, line: encodeInvocation(invocation) };
}

/** `room`: bytes that the text may add to the line, where it is a string and has escapes. */
export function historyText(history: readonly HistoryItem[], room: number): string {
  const kept: string[] = [];
  let bytes = "[]".length;
  let escaped = 0;
  for (const turn of turnsOf(history).toReversed()) {
    const comma = kept.length === 0 ? 0 : 1;
    bytes += Buffer.byteLength(turn) + comma;
    escaped += Buffer.byteLength(JSON.stringify(turn)) - '""'.length + comma;
    if (bytes > contextBytesMax || escaped > room) break;
    kept.push(turn);
  }
  return `[${kept.reverse().join(",")}]`;
}

/** The messages of each run as JSON, without the brackets of an array. */
function turnsOf(history: readonly HistoryItem[]): string[] {
  const turns: HistoryItem[][] = [];
  for (const item of history) {
    const last = turns.at(-1);
    if (last?.[0]?.run === item.run) last.push(item);
    else turns.push([item]);
  }
  // Around the turn stand the system message and the input, which are no part of it.
  const messages = turns.map((turn) => buildMessages("", turn, "").slice(1, -1));
  return messages.map((turn) => JSON.stringify(turn.map(spoken)).slice(1, -1));
}

/** A message in the words of the wire: those of `model.use`, and of an observation. */
function spoken(message: PromptMessage): object {
  switch (message.role) {
    case "assistant": {
      const { text, calls } = message;
      const said = { role: "assistant", content: text };
      return calls.length === 0 ? said : { ...said, tool_calls: calls };
    }
    case "tool": {
      const { call, name, status, content } = message;
      return { role: "tool", tool_call_id: call, name, status, content };
    }
    default:
      return { role: message.role, content: message.text };
  }
}
