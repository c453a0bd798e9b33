// Turns the session's history and the new input into the message array of a model call. The types
// here are shapes, not names: the session's history items and the models' messages fit them, and
// this floor knows neither module.

export type PromptHistory =
  | { readonly kind: "user" | "assistant"; readonly text: string }
  | {
      readonly kind: "tool_call";
      readonly call: string;
      readonly name: string;
      readonly args: unknown;
    }
  | {
      readonly kind: "tool_result";
      readonly call: string;
      readonly name: string;
      readonly status: "ok" | "error";
      readonly content: string;
    };

export type PromptMessage =
  | { readonly role: "system" | "user"; readonly text: string }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly calls: readonly {
        readonly id: string;
        readonly name: string;
        readonly args: unknown;
      }[];
    }
  | {
      readonly role: "tool";
      readonly call: string;
      readonly name: string;
      readonly status: "ok" | "error";
      readonly content: string;
    };

/** Said for an earlier run that ended without an answer: many servers want the roles to alternate. */
const noAnswer = "(that run ended without an answer)";

/** Said for a call whose result is not in the history; a call without a result is refused upstream. */
const noResult = "interrupted: the result of this call was not recorded";

/**
 * The messages of a first model call: system, the earlier turns oldest first, the input. Every call
 * is followed by exactly one result, a result without its call is left out.
 */
export function buildMessages(
  system: string,
  history: readonly PromptHistory[],
  input: string,
): PromptMessage[] {
  const messages: PromptMessage[] = [{ role: "system", text: system }];
  const results = new Map<string, PromptHistory & { kind: "tool_result" }>();
  for (const item of history) if (item.kind === "tool_result") results.set(item.call, item);
  for (const item of [...history, { kind: "user", text: input } as const]) {
    if (item.kind === "user") {
      const last = messages.at(-1)?.role;
      if (last === "user" || last === "tool") messages.push(answer(noAnswer));
      messages.push({ role: "user", text: item.text });
    } else if (item.kind === "assistant") {
      messages.push(answer(item.text));
    } else if (item.kind === "tool_call") {
      messages.push(...exchange(item, results.get(item.call)));
    }
  }
  return messages;
}

function answer(text: string): PromptMessage {
  return { role: "assistant", text, calls: [] };
}

function exchange(
  call: PromptHistory & { kind: "tool_call" },
  result: (PromptHistory & { kind: "tool_result" }) | undefined,
): PromptMessage[] {
  return [
    {
      role: "assistant",
      text: "",
      calls: [{ id: call.call, name: call.name, args: argumentObject(call.args) }],
    },
    {
      role: "tool",
      call: call.call,
      name: call.name,
      status: result?.status ?? "error",
      content: result?.content ?? noResult,
    },
  ];
}

/** Arguments as servers accept them back; broken ones were recorded as text, or not at all. */
export function argumentObject(args: unknown): Record<string, unknown> {
  const isObject = typeof args === "object" && args !== null && !Array.isArray(args);
  return isObject ? (args as Record<string, unknown>) : {};
}
