// The models of one run: the agent's list in order, then the fallbacks of those models. A candidate
// that fails before it said anything is noted and the next is tried, until an answer has consumed a
// tool result: from then on the run belongs to the model that gave it.

import { CodedError, coded, fail, type ModelRef } from "../abi/mod.ts";
import type { AgentControls, ModelChoice } from "../control/mod.ts";
import type { ModelClient, ModelMessage, ModelTool } from "../model/mod.ts";
import { resolveModel } from "../model/mod.ts";
import type { RunContext } from "../session/mod.ts";
import { loadModel, modelName, resolveAlias, type Tree } from "../tree/mod.ts";
import { type Answer, collectAnswer } from "./answer.ts";
import type { ExecutorOptions } from "./environment.ts";
import { requireModel } from "./models.ts";
import { logModelUse } from "./object-events.ts";

/** Candidates of one run. Later ones are not looked at. */
const candidatesMax = 16;

interface Candidate {
  /** `provider/model`, or the alias that leads nowhere. */
  readonly name: string;
  readonly ref: ModelRef | CodedError;
}

export function candidatesOf(tree: Tree, choices: readonly ModelChoice[]): Candidate[] {
  const listed = choices.map((choice) => candidateOf(tree, choice));
  const fallbacks = listed.flatMap(({ ref }) => fallbacksOf(tree, ref));
  const all = [...listed, ...fallbacks.map((ref) => ({ name: modelName(ref), ref }))];
  const first = new Map(all.toReversed().map((candidate) => [candidate.name, candidate]));
  return all.filter((one) => first.get(one.name) === one).slice(0, candidatesMax);
}

function candidateOf(tree: Tree, choice: ModelChoice): Candidate {
  if (choice.kind === "ref") return { name: modelName(choice.ref), ref: choice.ref };
  try {
    const ref = resolveAlias(tree, choice.name);
    return { name: modelName(ref), ref };
  } catch (thrown) {
    return { name: choice.name, ref: coded(thrown) };
  }
}

/** A model that cannot be read fails when it is tried; it only has no fallbacks to give. */
function fallbacksOf(tree: Tree, ref: ModelRef | CodedError): readonly ModelRef[] {
  if (ref instanceof CodedError) return [];
  try {
    return loadModel(tree, ref).fallback;
  } catch {
    return [];
  }
}

/** Errors that another model would meet as well: the person's cancel, and a script that is wrong. */
const finalCodes: ReadonlySet<string> = new Set(["ECANCELED", "EINVAL"]);

export class ModelChain {
  readonly #options: ExecutorOptions;
  readonly #context: RunContext;
  readonly #controls: AgentControls;
  readonly #candidates: readonly Candidate[];
  #index = 0;
  #client: ModelClient | undefined;
  #settled = false;

  constructor(options: ExecutorOptions, context: RunContext, controls: AgentControls) {
    this.#options = options;
    this.#context = context;
    this.#controls = controls;
    this.#candidates = candidatesOf(options.tree, controls.model);
    if (this.#candidates.length === 0) fail("ENOENT", `agent "${context.agent}" names no model`);
  }

  /** One answered model call. `step` counts the run's tool rounds from 0. */
  async ask(
    messages: readonly ModelMessage[],
    tools: readonly ModelTool[],
    step: number,
  ): Promise<Answer> {
    for (;;) {
      const candidate = this.#candidates[this.#index];
      if (candidate === undefined) return fail("ENOENT", "no model candidate is left");
      let opened = false;
      let spoke = false;
      try {
        this.#context.phase("model", step, candidate.name);
        this.#client ??= this.#open(candidate);
        opened = true;
        const request = { messages, tools, signal: this.#context.signal };
        const answer = await collectAnswer(this.#client, request, this.#context, () => {
          spoke = true;
        });
        this.#settled ||= step > 0;
        logModelUse(this.#options.tree, this.#context, candidate.name);
        return answer;
      } catch (thrown) {
        const error = coded(thrown);
        if (opened) logModelUse(this.#options.tree, this.#context, candidate.name, error.code);
        if (this.#context.signal.aborted) throw error;
        const final = spoke || this.#settled || (opened && finalCodes.has(error.code));
        if (final || this.#index + 1 >= this.#candidates.length) throw this.#last(error);
        const text = `model "${candidate.name}" failed and the next is tried: ${error.message}`;
        await this.#context.note(error.code, text, `model/${candidate.name}`);
        this.#index += 1;
        this.#client = undefined;
      }
    }
  }

  #open(candidate: Candidate): ModelClient {
    const { tree, places, server, resolve = resolveModel } = this.#options;
    if (candidate.ref instanceof CodedError) throw candidate.ref;
    const { agent } = this.#context;
    requireModel({ tree, agent, controls: this.#controls, server }, candidate.ref);
    return resolve({ tree, places, choice: { kind: "ref", ref: candidate.ref } });
  }

  #last(error: CodedError): CodedError {
    if (this.#index === 0 || this.#settled) return error;
    const hint = error.hint === undefined ? {} : { hint: error.hint };
    const message = `none of ${this.#index + 1} models answered, the last: ${error.message}`;
    return new CodedError(error.code, message, { ...hint, cause: error });
  }
}
