// The loop of an executable agent: a process a step, each told what the host made of the call before.
// The agent only prints; every call is decided, run and recorded by the host, and only the host says
// how the run ends. A step that fails ends the run: nothing is resumed from what an agent said.

import { CodedError, coded, fail, quoted } from "../abi/mod.ts";
import { authorizeProgram } from "../authority/mod.ts";
import type { AgentControls } from "../control/mod.ts";
import {
  type CallFrame,
  EnvelopeRun,
  type Observation,
  runStartsMax,
  type SpokenFrame,
  type StepOutcome,
  type StepReader,
} from "../envelope/mod.ts";
import type { StepOutcome as LaunchedStep, StepRequest } from "../launch/mod.ts";
import type { RunContext } from "../session/mod.ts";
import { loadAgent } from "../tree/mod.ts";
import { type Caller, newGitNotice, runCall } from "./call.ts";
import type { RunOptions } from "./environment.ts";
import { buildInvocation } from "./invocation.ts";
import { declaredTools } from "./offer.ts";
import { refusalReason } from "./report.ts";
import { programOf, standbyRequest } from "./standby-request.ts";
import { logStderr, stderrExcerpt } from "./step-stderr.ts";
import { toolContextOf } from "./tool-memory.ts";
import type { UsageSum } from "./usage.ts";
import { stepWindow } from "./window.ts";

export interface SteppedRun extends Omit<Caller, "offer"> {
  readonly usage: UsageSum;
}

/** The agent's answer. Throws what ended the run instead, with the step that it ended at. */
export async function runSteps({ options, context, usage, ahead }: SteppedRun): Promise<string> {
  ahead.stepping();
  const run = new EnvelopeRun(context.run);
  let observation: Observation | null = null;
  for (let step = 0; step < runStartsMax; step += 1) {
    checkCancelled(context);
    context.phase("step", step, null);
    const outcome = await runStep({ options, context, usage, run, step, observation });
    checkCancelled(context);
    if (outcome.kind === "message") return outcome.text;
    if (outcome.kind === "error") return fail(outcome.code, outcome.message);
    if (outcome.text !== "") await context.message(outcome.text);
    observation = await makeCall({ options, context, ahead }, outcome.call, step);
  }
  return fail("EMSGSIZE", `the run reached its bound of ${runStartsMax} steps`);
}

interface Step extends Omit<SteppedRun, "ahead"> {
  readonly run: EnvelopeRun;
  readonly step: number;
  readonly observation: Observation | null;
}

async function runStep(given: Step): Promise<StepOutcome> {
  const { options, context, usage, run, step, observation } = given;
  const controls = launchable(options, context);
  const { invocation, line } = buildInvocation({
    run: context.run,
    step,
    input: context.input,
    history: context.history(),
    toolContext: toolContextOf(options, context),
    observation,
  });
  const request: StepRequest = {
    ...standbyRequest(options, context, controls),
    program: programOf(options, context.agent),
    step,
    window: stepWindow(options.tree, controls),
    stdin: new TextEncoder().encode(line),
    timeoutMs: options.stepTimeoutMs,
  };
  options.serve?.();
  const reader = run.begin(invocation);
  const { signal } = context;
  const launched = await options.launcher.step(request, {
    signal,
    onStdout(bytes) {
      for (const frame of reader.push(bytes)) speak(frame, context, usage);
      return reader.failure === undefined ? undefined : "stop";
    },
  });
  if (!signal.aborted) logStderr(options.tree, context, step, launched);
  await newGitNotice(context, launched.newGit ?? []);
  return located(given, launched, outcomeOf(given, reader, launched));
}

/** The agent's controls as they are now, if its program may be started as it. */
function launchable({ tree, server }: RunOptions, { agent }: RunContext): AgentControls {
  const controls = loadAgent(tree, agent);
  try {
    const verdict = authorizeProgram({ tree, agent, controls, server });
    if (verdict.allowed) return controls;
    return fail(verdict.code ?? "EACCES", refusalReason(verdict));
  } catch (thrown) {
    const { code, message } = coded(thrown);
    throw new CodedError(code, `program of agent ${quoted(agent)} cannot be started: ${message}`, {
      cause: thrown,
    });
  }
}

/** What is shown or counted at once; a message waits for the end of its step. */
function speak(frame: SpokenFrame, context: RunContext, usage: UsageSum): void {
  switch (frame.type) {
    case "delta":
      context.delta(frame.text);
      break;
    case "reasoning_delta":
      context.reasoning(frame.text);
      break;
    case "usage": {
      const { input_tokens: inputTokens, output_tokens: outputTokens } = frame;
      usage.add({ model: undefined, inputTokens, outputTokens });
    }
  }
}

/** What was printed decides first, then how the process went. */
function outcomeOf({ options, run }: Step, reader: StepReader, launched: LaunchedStep) {
  if (reader.failure !== undefined) return run.end();
  const error = (code: CodedError["code"], message: string) =>
    ({ kind: "error", code, message }) as const;
  if (launched.stopped === "timeout") {
    return error("ETIMEDOUT", `it ran longer than ${options.stepTimeoutMs} ms`);
  }
  if (launched.stopped !== undefined) return error("ECANCELED", "it was stopped");
  if (launched.code !== undefined) {
    return error(launched.code, launched.message ?? "it could not be started");
  }
  return run.end({ status: launched.exit });
}

/** An error says where it happened, and for a process that failed what it wrote last. */
function located({ context, step }: Step, launched: LaunchedStep, outcome: StepOutcome) {
  if (outcome.kind !== "error") return outcome;
  const said = outcome.code === "EIO" ? stderrExcerpt(launched.stderr) : "";
  const message = `step ${step} of agent ${quoted(context.agent)}: ${outcome.message}${said}`;
  return { ...outcome, message };
}

/** One call, by the authority and the files of this moment, as the next step is told of it. */
async function makeCall(
  { options, context, ahead }: Omit<Caller, "offer">,
  { id, name, args }: CallFrame,
  step: number,
): Promise<Observation> {
  const offer = declaredTools(loadAgent(options.tree, context.agent));
  context.phase(`tool ${name}`, step, null);
  const call = { type: "call", id, name, args, raw: JSON.stringify(args) } as const;
  const { status, seen } = await runCall({ options, context, offer, ahead }, call, id);
  const content = seen.content.toWellFormed();
  return { tool_call_id: id, name, status, content, truncated: seen.truncated };
}

function checkCancelled(context: RunContext): void {
  if (context.signal.aborted) fail("ECANCELED", "the run was cancelled");
}
