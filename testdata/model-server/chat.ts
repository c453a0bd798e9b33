// The chat completion wire: request bodies into messages, events into chunks or one answer.

import { deltas, type ModelEvent, type ModelMessage } from "../../internal/model/mod.ts";

export interface ChatBody {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages: readonly WireMessage[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly stream_options?: { readonly include_usage?: boolean };
}

export interface WireMessage {
  readonly role: string;
  readonly content?: string | readonly { readonly text?: string }[] | null;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

export interface ChunkStyle {
  /** Continuation chunks of a call repeat `id` and `name` as empty strings, as some gateways do. */
  readonly emptyNames: boolean;
  /** Characters of one text or argument fragment. */
  readonly fragmentChars: number;
}

export function messagesOf(body: ChatBody): ModelMessage[] {
  return body.messages.map((message): ModelMessage => {
    const text = textOf(message.content);
    if (message.role === "assistant") {
      const calls = (message.tool_calls ?? []).map((call) => ({
        id: call.id,
        name: call.function.name,
        args: JSON.parse(call.function.arguments) as unknown,
      }));
      return { role: "assistant", text, calls };
    }
    if (message.role === "tool") {
      return {
        role: "tool",
        call: message.tool_call_id ?? "",
        name: "",
        status: "ok",
        content: text,
      };
    }
    return { role: message.role === "system" ? "system" : "user", text };
  });
}

function textOf(content: WireMessage["content"]): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => part.text ?? "").join("");
}

type Delta = Record<string, unknown>;

/** Turns events into the `data:` values of a stream. Keeps the index of calls. */
export class ChunkWriter {
  readonly #model: string;
  readonly #style: ChunkStyle;
  #calls = 0;

  constructor(model: string, style: ChunkStyle) {
    this.#model = model;
    this.#style = style;
  }

  *chunks(event: ModelEvent): Iterable<unknown> {
    switch (event.type) {
      case "delta":
        for (const part of deltas(event.text, this.#style.fragmentChars)) {
          if (part.type === "delta") yield this.#chunk({ content: part.text });
        }
        return;
      case "reasoning":
        yield this.#chunk({ reasoning_content: event.text });
        return;
      case "call":
        yield* this.#call(event);
        return;
      case "usage":
        yield { ...this.#chunk({}), choices: [], usage: usageOf(event) };
        return;
      case "finish":
        yield this.#chunk({}, this.#calls > 0 ? "tool_calls" : "stop");
        return;
    }
  }

  *#call(event: ModelEvent & { type: "call" }): Iterable<unknown> {
    const index = this.#calls;
    this.#calls += 1;
    const start = { name: event.name, arguments: "" };
    yield this.#chunk({ tool_calls: [{ index, id: event.id, type: "function", function: start }] });
    for (const part of deltas(event.raw, this.#style.fragmentChars)) {
      if (part.type !== "delta") continue;
      const fragment = this.#style.emptyNames
        ? { index, id: "", type: "function", function: { name: "", arguments: part.text } }
        : { index, function: { arguments: part.text } };
      yield this.#chunk({ tool_calls: [fragment] });
    }
  }

  #chunk(delta: Delta, finish: string | null = null) {
    return {
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 0,
      model: this.#model,
      choices: [{ index: 0, delta, finish_reason: finish }],
    };
  }
}

function usageOf(event: ModelEvent & { type: "usage" }) {
  return {
    prompt_tokens: event.inputTokens,
    completion_tokens: event.outputTokens,
    total_tokens: event.inputTokens + event.outputTokens,
  };
}

/** The answer of a request that does not stream. */
export function wholeAnswer(model: string, events: readonly ModelEvent[]): unknown {
  const content = events.map((event) => (event.type === "delta" ? event.text : "")).join("");
  const calls = events.flatMap((event) =>
    event.type === "call"
      ? [
          {
            id: event.id,
            type: "function",
            function: { name: event.name, arguments: event.raw },
          },
        ]
      : [],
  );
  const usage = events.find((event) => event.type === "usage");
  const message = { role: "assistant", content, ...(calls.length > 0 && { tool_calls: calls }) };
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 0,
    model,
    choices: [{ index: 0, message, finish_reason: calls.length > 0 ? "tool_calls" : "stop" }],
    ...(usage && { usage: usageOf(usage) }),
  };
}
