// A model call on behalf of a program in the sandbox: the host has the key and the network, the agent's
// policy says which model. It is the model that was asked for or none: what to do when it fails is for
// the program to say.

import { coded, fail, frameTextUnitsMax, type ModelRef, parseModelRef } from "../abi/mod.ts";
import type { CapabilityMessage, ModelUseRequest } from "../capability/mod.ts";
import { type ModelEvent, type ModelMessage, resolveModel } from "../model/mod.ts";
import type { ModelEnd, ModelFrame } from "../run-socket/mod.ts";
import { pieces, type RunContext } from "../session/mod.ts";
import { loadAgent, modelName, resolveAlias } from "../tree/mod.ts";
import type { ExecutorOptions } from "./environment.ts";
import { requireModel } from "./models.ts";
import { logModelUse } from "./object-events.ts";
import type { UsageSum } from "./usage.ts";

/** Characters of one answer. Past it EMSGSIZE, and the answer is cut off there. */
export const modelAnswerCharsMax = 4 * 1024 * 1024;

type Emit = (frame: ModelFrame) => Promise<void> | undefined;

export class ModelUse {
  readonly #options: ExecutorOptions;
  readonly #context: RunContext;
  readonly #usage: UsageSum;
  #calls = 0;

  constructor(options: ExecutorOptions, context: RunContext, usage: UsageSum) {
    this.#options = options;
    this.#context = context;
    this.#usage = usage;
  }

  /** What is thrown before the first frame refuses the request. */
  async answer(request: ModelUseRequest, emit: Emit, gone: AbortSignal): Promise<ModelEnd> {
    const signal = AbortSignal.any([this.#context.signal, gone]);
    const client = this.#client(request.model);
    const messages = request.messages.map(modelMessage);
    const { tree } = this.#options;
    try {
      const end = await this.#stream(
        client.name,
        client.stream({ messages, tools: [], signal }),
        emit,
      );
      logModelUse(tree, this.#context, client.name);
      return end;
    } catch (thrown) {
      logModelUse(
        tree,
        this.#context,
        client.name,
        signal.aborted ? "ECANCELED" : coded(thrown).code,
      );
      if (!signal.aborted) throw thrown;
      return { status: "cancelled", code: "ECANCELED" };
    }
  }

  /** The model's client, when the agent may use it now. */
  #client(named: string) {
    const { tree, places, server, modelSteps, resolve = resolveModel } = this.#options;
    const { agent } = this.#context;
    if (this.#calls >= modelSteps) {
      fail("EMSGSIZE", `the run reached its bound of ${modelSteps} model calls`);
    }
    const ref: ModelRef = parseModelRef(named) ?? resolveAlias(tree, named);
    requireModel({ tree, agent, controls: loadAgent(tree, agent), server }, ref);
    this.#calls += 1;
    const client = resolve({ tree, places, choice: { kind: "ref", ref } });
    return { name: modelName(ref), stream: client.stream.bind(client) };
  }

  async #stream(model: string, events: AsyncIterable<ModelEvent>, emit: Emit): Promise<ModelEnd> {
    const text: string[] = [];
    let units = 0;
    let inputTokens = 0;
    let outputTokens = 0;
    try {
      for await (const event of events) {
        if (event.type === "usage") {
          inputTokens += event.inputTokens;
          outputTokens += event.outputTokens;
        } else if (event.type === "call") {
          fail("EIO", `model "${model}" asked for a tool, and was offered none`);
        } else if (event.type !== "finish") {
          units += event.text.length;
          if (units > modelAnswerCharsMax) {
            fail(
              "EMSGSIZE",
              `model "${model}" answered more than ${modelAnswerCharsMax} characters`,
            );
          }
          const type = event.type === "delta" ? "delta" : "reasoning_delta";
          if (type === "delta") text.push(event.text);
          for (const part of pieces(event.text, frameTextUnitsMax)) {
            await emit({ type, text: part });
          }
        }
      }
    } finally {
      this.#usage.add({ model, inputTokens, outputTokens });
    }
    for (const part of pieces(text.join(""), frameTextUnitsMax)) {
      await emit({ type: "message", content: [{ type: "text", text: part }] });
    }
    if (inputTokens + outputTokens > 0) {
      await emit({ type: "usage", input_tokens: inputTokens, output_tokens: outputTokens });
    }
    return { status: "ok" };
  }
}

function modelMessage({ role, content }: CapabilityMessage): ModelMessage {
  const text = typeof content === "string" ? content : content.map((part) => part.text).join("");
  return role === "assistant" ? { role, text, calls: [] } : { role, text };
}
