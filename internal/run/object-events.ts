// What the logs of tools and models are told: who used them, and how it ended. No arguments, no text.
// The session has the whole of it; these lines are for whoever looks after a tool or a model.

import type { Code } from "../abi/mod.ts";
import type { RunContext, ToolOutcome } from "../session/mod.ts";
import { appendObjectLog, type ToolObject, type Tree } from "../tree/mod.ts";

type Who = Pick<RunContext, "agent" | "session" | "run">;

/** One call of a tool that was launched. */
export function logToolCall(
  tree: Tree,
  { agent, session, run }: Who,
  tool: ToolObject,
  call: string,
  { status, code }: Pick<ToolOutcome, "status" | "code">,
): void {
  const ended = code === undefined ? { status } : { status, code };
  const event = { type: "tool.call", agent, session, run, call, ...ended };
  // The log lies beside the policy that allowed the call, in whichever folder the tool was found.
  appendObjectLog(tree, tool.policyFile.replace(/policy$/, "log"), event);
}

/** One call of a model, `provider/model`. */
export function logModelUse(
  tree: Tree,
  { agent, session, run }: Who,
  model: string,
  code?: Code,
): void {
  const ended = code === undefined ? { status: "ok" } : { status: "error", code };
  const event = { type: "model.use", agent, session, run, ...ended };
  appendObjectLog(tree, `model/${model}.d/log`, event);
}
