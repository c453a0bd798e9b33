// Approval of one prepared call: it is asked for after every other check, what is shown is exactly
// what would be run, and once it is allowed everything is looked at again. No sandbox is kept while a
// person thinks.

import { createHash } from "node:crypto";
import { CodedError } from "../abi/mod.ts";
import type { LaunchRequest, PreparedCall } from "../launch/mod.ts";
import type { ApprovalDecision, RunContext } from "../session/mod.ts";
import type { ExecutorOptions } from "./environment.ts";

/**
 * Waits until the run's origin has decided; throws the reason when it did not allow the call. `again`
 * makes the request anew, from the files as they are then, with every check of the first time.
 */
export async function approvedRequest(
  { launcher }: Pick<ExecutorOptions, "launcher">,
  context: RunContext,
  call: string,
  request: LaunchRequest,
  again: () => Promise<LaunchRequest>,
): Promise<LaunchRequest> {
  await launcher.discard(request);
  const prepared = launcher.examine(request);
  const { name } = request.tool;
  const digest = digestOf(context, call, prepared);
  const question = { name, args: request.args, cwd: prepared.cwd, digest };
  const decision = await context.approval(call, question);
  if (decision.kind !== "allowed") throw refusalOf(name, context.agent, decision);
  return { ...(await again()), approved: prepared };
}

/** Of this call of this run and of all that it would run. */
export function digestOf(
  { agent, session, run }: Pick<RunContext, "agent" | "session" | "run">,
  call: string,
  { parts }: PreparedCall,
): string {
  const whole = JSON.stringify([agent, session, run, call, Object.entries(parts).sort()]);
  return createHash("sha256").update(whole).digest("hex");
}

function refusalOf(
  name: string,
  agent: string,
  decision: Exclude<ApprovalDecision, { kind: "allowed" }>,
): CodedError {
  const subject = `tool "${name}" was not run`;
  switch (decision.kind) {
    case "denied": {
      const reason = decision.reason ?? "the person who was asked gave no reason";
      return new CodedError("EACCES", `${subject}: denied: ${reason}`);
    }
    case "timed_out":
      return new CodedError("ETIMEDOUT", `${subject}: its approval was asked and nobody answered`);
    case "origin_lost":
      return new CodedError("EACCES", `${subject}: approval is asked and nobody can answer`, {
        hint: `agent/${agent}.d/approval says ask; only the client that sent the message can answer`,
      });
    case "cancelled":
      return new CodedError("ECANCELED", `${subject}: the run was cancelled`);
  }
}
