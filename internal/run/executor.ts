// One run of an agent. A program of its own runs in steps; for a model agent the loop is here: read
// the agent, render the prompt, call the model, run its calls one after another, repeat until it
// answers with text alone. The loop is host code; nothing that an agent provides runs here. The
// session records, the launcher launches, authority decides.

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
import { RunCapability } from "./capability.ts";
import type { ExecutorOptions, RunOptions } from "./environment.ts";
import { type Offer, offeredTools } from "./offer.ts";
import { errorMessage } from "./report.ts";
import { RunFolder } from "./run-folder.ts";
import { runSteps } from "./steps.ts";
import { runPrompt } from "./system-prompt.ts";
import { toolContextOf } from "./tool-memory.ts";
import { tshTool } from "./tsh.ts";
import { UsageSum } from "./usage.ts";

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
    expect(context: RunContext) {
      // Most words need no sandbox; those that do have it begun while their call is recorded.
      if (context.words !== undefined) return;
      const folder = new RunFolder(options.sockets, context, false);
      new SandboxAhead({ ...options, folder }, context).expected();
    },
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

async function run(host: ExecutorOptions, context: RunContext, usage: UsageSum): Promise<void> {
  const folder = new RunFolder(host.sockets, context, true);
  const capability = new RunCapability(host, context, usage, folder);
  const options = { ...host, folder, serve: () => capability.open() };
  const ahead = new SandboxAhead(options, context);
  let complete = false;
  try {
    const run = { options, context, usage, ahead };
    const answer = context.words === undefined ? await answerOf(run) : await callShell(run);
    // Nothing that a program of the run still asks for is part of it.
    await capability.close();
    await usage.record(context);
    if (answer !== undefined) await context.message(answer);
    complete = true;
  } finally {
    ahead.over(complete);
    // Not waited for: what a server does at its end is nothing that the run's answer depends on.
    void host.servers?.over(context.run);
    await capability.close().finally(() => folder.release());
  }
}

interface Run {
  readonly options: RunOptions;
  readonly context: RunContext;
  readonly usage: UsageSum;
  readonly ahead: SandboxAhead;
}

/** The one call of a request that no model sees. What comes of it is told by its result. */
async function callShell({ options, context, ahead }: Run): Promise<undefined> {
  const { name } = tshTool;
  context.phase(`tool ${name}`, 0, null);
  const args = { args: context.words };
  const call = { type: "call", id: name, name, args, raw: JSON.stringify(args) } as const;
  await runCall({ options, context, offer: { tools: [tshTool], direct: [] }, ahead }, call);
}

/** The final text, of a model or of the agent's own program. */
async function answerOf(run: Run): Promise<string> {
  const { options, context } = run;
  const controls = loadAgent(options.tree, context.agent);
  if (!isModelAgent(options.tree, context.agent)) return runSteps(run);
  const offer = offeredTools(options, context.agent, controls);
  return converse({ ...run, controls, offer });
}

interface Conversation extends Run {
  readonly controls: AgentControls;
  readonly offer: Offer;
}

/** The final text. Throws EMSGSIZE at the bound of steps, EIO when the model says nothing. */
async function converse(conversation: Conversation): Promise<string> {
  const { options, context, controls, offer, usage, ahead } = conversation;
  const prompt = runPrompt({
    tree: options.tree,
    agent: context.agent,
    directTools: offer.direct,
    now: new Date(),
  });
  const system = () => prompt(toolContextOf(options, context));
  const messages: ModelMessage[] = buildMessages(system(), context.history(), context.input);
  const chain = new ModelChain(options, context, controls);
  for (let step = 0; step < options.modelSteps; step += 1) {
    checkCancelled(context);
    // What a call has loaded stands before the model at its next step.
    if (step > 0) messages[0] = { role: "system", text: system() };
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
