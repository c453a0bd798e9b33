// One tool call of a model, from its record to its result. The call is durable before anything of
// it is decided or run; authority is asked anew, from the files as they are now; the input is checked;
// only then something is launched. Whatever happens, there is exactly one result.

import { coded, fail, frameEnvelopeBytesMax, isObjectName, opLineBytesMax } from "../abi/mod.ts";
import type { LaunchRequest } from "../launch/mod.ts";
import type { RunContext, ToolOutcome } from "../session/mod.ts";
import { loadAgent, type ToolObject } from "../tree/mod.ts";
import type { SandboxAhead } from "./ahead.ts";
import { allowedTool, nameCharsMax } from "./allowed-tool.ts";
import type { AnswerCall } from "./answer.ts";
import { approvedRequest } from "./approval.ts";
import type { RunOptions } from "./environment.ts";
import { logToolCall } from "./object-events.ts";
import type { Offer } from "./offer.ts";
import { errorOutcome, okOutcome } from "./report.ts";
import { checkInput } from "./schema.ts";
import { lazyStandbyRequest, standbyRequest } from "./standby-request.ts";
import { runWhereItBelongs } from "./terminal-route.ts";
import { touchTool } from "./tool-memory.ts";
import { parseTsh, tshTool, wordsOf } from "./tsh.ts";
import { answerBuiltin } from "./tsh-builtins.ts";

/**
 * Bytes of JSON of one call's arguments: their frame fits a line. Past it EMSGSIZE, and the record
 * holds only their length.
 */
export const callArgumentsBytesMax = opLineBytesMax - frameEnvelopeBytesMax;

export interface CallResult {
  /** The host's id; a model's own ids may repeat and mean nothing here. */
  readonly id: string;
  readonly status: "ok" | "error";
  /** What the model is shown. */
  readonly content: string;
  /** The same, with its cut told apart. */
  readonly seen: { readonly content: string; readonly truncated: boolean };
}

export interface Caller {
  readonly options: RunOptions;
  readonly context: RunContext;
  readonly offer: Offer;
  readonly ahead: SandboxAhead;
}

/**
 * Runs one call; `own` is the id that an executable agent gave it. Throws only when the run is
 * cancelled or the session cannot record.
 */
export async function runCall(
  { options, context, offer, ahead }: Caller,
  call: AnswerCall,
  own?: string,
): Promise<CallResult> {
  const name = isObjectName(call.name) ? call.name : call.name.slice(0, nameCharsMax);
  const recorded = context.toolCall(name, recordedArguments(call), own);
  ahead.recording(call);
  const id = await recorded;
  const outcome = await outcomeOf(options, context, offer, call, id);
  if (context.signal.aborted) fail("ECANCELED", "the run was cancelled");
  const seen = await context.toolResult(id, name, outcome);
  const content = seen.truncated ? `${seen.content}\n[cut: truncated output]` : seen.content;
  return { id, status: outcome.status, content, seen };
}

/** Arguments that are no object are kept as they were said. */
function recordedArguments(call: AnswerCall): unknown {
  const recorded = call.args ?? call.raw;
  const bytes = Buffer.byteLength(JSON.stringify(recorded));
  return bytes > callArgumentsBytesMax ? { omitted: `${bytes} bytes` } : recorded;
}

async function outcomeOf(
  options: RunOptions,
  context: RunContext,
  offer: Offer,
  call: AnswerCall,
  id: string,
): Promise<ToolOutcome> {
  try {
    checkCall(context.agent, offer, call);
    if (call.name !== tshTool.name) {
      return await runTool(options, context, id, { name: call.name, args: call.args });
    }
    const command = parseTsh(call.args);
    if (command.kind === "tool") {
      return await runTool(options, context, id, { ...command, words: wordsOf(call.args) });
    }
    return okOutcome(answerBuiltin(options, context, command));
  } catch (thrown) {
    return errorOutcome(coded(thrown));
  }
}

function checkCall(agent: string, offer: Offer, call: AnswerCall): void {
  if (!offer.tools.some((tool) => tool.name === call.name)) {
    const name = JSON.stringify(call.name.slice(0, nameCharsMax));
    fail("EACCES", `tool ${name} is not declared for agent "${agent}"`, {
      hint: `run it through tsh: {"args":[${name},"{…}"]}`,
    });
  }
  if (Buffer.byteLength(JSON.stringify(call.args ?? call.raw)) > callArgumentsBytesMax) {
    fail(
      "EMSGSIZE",
      `the arguments of "${call.name}" exceed ${callArgumentsBytesMax} bytes of JSON`,
    );
  }
  if (call.args === undefined) {
    fail("EINVAL", `the arguments of "${call.name}" are not a JSON object`);
  }
}

interface ToolCall {
  readonly name: string;
  readonly args: unknown;
  /** What the agent's tool shell was told. */
  readonly words?: readonly string[];
}

async function runTool(
  options: RunOptions,
  context: RunContext,
  id: string,
  { name, args, words }: ToolCall,
): Promise<ToolOutcome> {
  const prepare = () => checkedRequest(options, context, name, args);
  const first = await prepare();
  const request =
    first.controls.approval === "ask"
      ? await approvedRequest(options, context, id, first, prepare)
      : first;
  options.serve?.();
  const { signal } = context;
  const onOutput = (text: string) => context.toolDelta(id, text);
  const running = runWhereItBelongs(options, request, words, { signal, onOutput });
  // While the tool runs, and never a reason for its call to fail.
  touchTool(options, context, name);
  const outcome = await running;
  logToolCall(options.tree, context, request.tool, id, outcome);
  const notice = await newGitNotice(context, outcome.newGit);
  return {
    status: outcome.status,
    ...(outcome.code === undefined ? {} : { code: outcome.code }),
    output: outcome.output + notice,
    dropped: outcome.dropped,
    ...(outcome.kept === undefined ? {} : { kept: outcome.kept }),
  };
}

/** Hooks in a `.git` that a call made would run as the person who uses git there next. */
export async function newGitNotice(context: RunContext, paths: readonly string[]): Promise<string> {
  if (paths.length === 0 || context.signal.aborted) return "";
  const text = `a tool call made ${paths.join(", ")}: hooks in it would run as whoever uses git there`;
  await context.note("EACCES", text, `session/${context.session}`);
  return `\n[${text}]`;
}

/** The launch that a call asks for, with every check that comes before it, on the files as they are. */
async function checkedRequest(
  options: RunOptions,
  context: RunContext,
  name: string,
  args: unknown,
): Promise<LaunchRequest> {
  const controls = loadAgent(options.tree, context.agent);
  const tool = allowedTool(options, context.agent, controls, name);
  await checkInput(name, tool.schema, args);
  const timeoutMs = timeoutOf(tool, args) ?? options.toolTimeoutMs;
  const of = { tool, args, timeoutMs };
  // A server that is up needs nothing of what a new sandbox would show.
  if (tool.mcp !== undefined) {
    return Object.assign(lazyStandbyRequest(options, context, controls), of);
  }
  return { ...standbyRequest(options, context, controls), ...of };
}

/** The built-in command tool says how long it may take; its schema bounds what it can say. */
function timeoutOf(tool: ToolObject, args: unknown): number | undefined {
  if (!tool.builtin || tool.name !== "shell.exec") return undefined;
  const value = (args as { timeout_ms?: unknown }).timeout_ms;
  return typeof value === "number" ? value : undefined;
}
