// One answer of a model, collected while its deltas are shown.

import { fail } from "../abi/mod.ts";
import type { ModelClient, ModelEvent, ModelRequest } from "../model/mod.ts";
import type { RunContext } from "../session/mod.ts";

/** Tool calls of one answer. Past it the run fails with EMSGSIZE and none of them is run. */
export const callsPerAnswerMax = 64;

export type AnswerCall = ModelEvent & { readonly type: "call" };

export interface Answer {
  readonly model: string;
  readonly text: string;
  readonly calls: readonly AnswerCall[];
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Reads the whole answer; `onOutput` is called at its first sign. Throws what the client throws. */
export async function collectAnswer(
  client: ModelClient,
  request: ModelRequest,
  context: RunContext,
  onOutput: () => void,
): Promise<Answer> {
  const text: string[] = [];
  const calls: AnswerCall[] = [];
  let inputTokens = 0;
  let outputTokens = 0;
  for await (const event of client.stream(request)) {
    if (context.signal.aborted) fail("ECANCELED", "the run was cancelled");
    if (event.type === "usage") {
      inputTokens += event.inputTokens;
      outputTokens += event.outputTokens;
      continue;
    }
    if (event.type === "finish") continue;
    onOutput();
    if (event.type === "call") {
      calls.push(event);
    } else if (event.type === "reasoning") {
      context.reasoning(event.text);
    } else {
      text.push(event.text);
      context.delta(event.text);
    }
  }
  if (calls.length > callsPerAnswerMax) {
    const asked = `model "${client.name}" asked for ${calls.length} tool calls in one answer`;
    fail("EMSGSIZE", `${asked}, at most ${callsPerAnswerMax} are allowed`);
  }
  return { model: client.name, text: text.join(""), calls, inputTokens, outputTokens };
}
