// The loop of a model agent: read the agent, render the prompt, call the model, run its calls one
// after another, repeat until it answers with text alone. The loop is host code; nothing that an
// agent provides runs here. The session records, the launcher launches, authority decides.

import { coded, fail } from "../abi/mod.ts";
import type { AgentControls } from "../control/mod.ts";
import type { ModelMessage } from "../model/mod.ts";
import { buildMessages } from "../prompt/mod.ts";
import type { RunContext, RunExecutor, RunOutcome } from "../session/mod.ts";
import { isModelAgent, loadAgent } from "../tree/mod.ts";
import { SandboxAhead } from "./ahead.ts";
import type { Answer } from "./answer.ts";
import { runCall } from "./call.ts";
import { ModelChain } from "./candidates.ts";
import type { ExecutorOptions } from "./environment.ts";
import { type Offer, offeredTools } from "./offer.ts";
import { errorMessage } from "./report.ts";
import { systemPrompt } from "./system-prompt.ts";

export function createExecutor(options: ExecutorOptions): RunExecutor {
  const execute = async (context: RunContext): Promise<RunOutcome> => {
    const usage = new UsageSum();
    try {
      await run(options, context, usage);
      return { status: "ok" };
    } catch (thrown) {
      return failure(context, thrown, usage);
    }
  };
  return Object.assign(execute, {
    expect: (context: RunContext) => new SandboxAhead(options, context).expected(),
  });
}

/** What was used is recorded also when the run fails, unless nothing may be recorded any more. */
async function failure(context: RunContext, thrown: unknown, usage: UsageSum): Promise<RunOutcome> {
  if (context.signal.aborted) {
    return { status: "error", code: "ECANCELED", message: "the run was cancelled" };
  }
  const error = coded(thrown);
  try {
    await usage.record(context);
  } catch {
    // The session refuses records, which is then the reason of the failure itself.
  }
  return { status: "error", code: error.code, message: errorMessage(error) };
}

async function run(options: ExecutorOptions, context: RunContext, usage: UsageSum): Promise<void> {
  const { agent } = context;
  const controls = loadAgent(options.tree, agent);
  if (!isModelAgent(options.tree, agent)) {
    fail("EINVAL", `agent "${agent}" is a program of its own, which this version does not run`);
  }
  const offer = offeredTools(options, agent, controls);
  const ahead = new SandboxAhead(options, context);
  let complete = false;
  try {
    const answer = await converse({ options, context, controls, offer, usage, ahead });
    await usage.record(context);
    await context.message(answer);
    complete = true;
  } finally {
    ahead.over(complete);
  }
}

interface Conversation {
  readonly options: ExecutorOptions;
  readonly context: RunContext;
  readonly controls: AgentControls;
  readonly offer: Offer;
  readonly usage: UsageSum;
  readonly ahead: SandboxAhead;
}

/** The final text. Throws EMSGSIZE at the bound of steps, EIO when the model says nothing. */
async function converse(conversation: Conversation): Promise<string> {
  const { options, context, controls, offer, usage, ahead } = conversation;
  const system = systemPrompt({
    tree: options.tree,
    agent: context.agent,
    directTools: offer.direct,
    now: new Date(),
  });
  const messages: ModelMessage[] = buildMessages(system, context.history(), context.input);
  const chain = new ModelChain(options, context, controls);
  for (let step = 0; step < options.modelSteps; step += 1) {
    checkCancelled(context);
    const answered = ahead.asked();
    const answer = await chain.ask(messages, offer.tools, step).finally(answered);
    usage.add(answer);
    if (answer.calls.length === 0) {
      if (answer.text.trim() !== "") return answer.text;
      fail("EIO", `the model answered nothing: "${answer.model}" gave neither text nor a call`);
    }
    messages.push(...(await runCalls(conversation, answer, step)));
  }
  return fail("EMSGSIZE", `the run reached its bound of ${options.modelSteps} model steps`, {
    hint: "ask for less at once, or go on with another message",
  });
}

/** The messages that an answer with calls adds: itself under the host's ids, then every result. */
async function runCalls(
  { options, context, offer, ahead }: Conversation,
  answer: Answer,
  step: number,
): Promise<ModelMessage[]> {
  const calls: { id: string; name: string; args: unknown }[] = [];
  const results: ModelMessage[] = [];
  for (const call of answer.calls) {
    checkCancelled(context);
    context.phase(`tool ${call.name.slice(0, 64)}`, step, answer.model);
    const { id, status, content } = await runCall({ options, context, offer, ahead }, call);
    calls.push({ id, name: call.name, args: call.args ?? {} });
    results.push({ role: "tool", call: id, name: call.name, status, content });
  }
  return [{ role: "assistant", text: answer.text, calls }, ...results];
}

function checkCancelled(context: RunContext): void {
  if (context.signal.aborted) fail("ECANCELED", "the run was cancelled");
}

/** Tokens of a run by model, recorded once: a run of many steps is still one bill. */
class UsageSum {
  readonly #sums = new Map<string, { input: number; output: number }>();

  add(answer: Answer): void {
    if (answer.inputTokens === 0 && answer.outputTokens === 0) return;
    const sum = this.#sums.get(answer.model) ?? { input: 0, output: 0 };
    sum.input += answer.inputTokens;
    sum.output += answer.outputTokens;
    this.#sums.set(answer.model, sum);
  }

  async record(context: RunContext): Promise<void> {
    for (const [model, sum] of this.#sums) {
      this.#sums.delete(model);
      await context.usage(model, sum.input, sum.output);
    }
  }
}
