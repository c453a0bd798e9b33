import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { EnvelopeRun, encodeInvocation, type Invocation, type StepOutcome } from "./mod.ts";

const page = readFileSync(resolve(import.meta.dir, "../../docs/protocol/sdk-envelope.md"), "utf8");

function runStep(script: string, run: EnvelopeRun, invocation: Invocation): StepOutcome {
  const reader = run.begin(invocation);
  const step = Bun.spawnSync(["/bin/sh", "-c", script], {
    env: { CTX_STEP: String(invocation.step) },
    stdin: new TextEncoder().encode(encodeInvocation(invocation)),
  });
  reader.push(step.stdout);
  return run.end({ status: step.exitCode ?? undefined });
}

test("the shell agent of the documentation makes two calls and answers", () => {
  const script = /```sh\n([\s\S]*?)```/.exec(page)?.[1] as string;
  const run = new EnvelopeRun("run-1");
  const invocation: Invocation = {
    schema: "cortexfs.agent-invocation/v1",
    run: "run-1",
    step: 0,
    input: "look around",
    history_messages: "[]",
    tool_context: "",
    observation: null,
  };
  const outcomes: string[] = [];
  let next = invocation;
  for (let step = 1; step <= 3; step++) {
    const outcome = runStep(script, run, next);
    outcomes.push(outcome.kind === "call" ? outcome.call.name : outcome.kind);
    if (outcome.kind !== "call") break;
    const { id, name } = outcome.call;
    const observation = {
      tool_call_id: id,
      name,
      status: "ok",
      content: "",
      truncated: false,
    } as const;
    next = { ...invocation, step, observation };
  }
  expect(outcomes).toEqual(["fs.list", "fs.stat", "message"]);
});
