// The program that the crash tests kill: it serves one agent, sends many inputs to two sessions and
// prints a line for every fact that a client was told, so that the parent knows what must survive.
// Arguments: source, runtime, number of the life.

import { writeSync } from "node:fs";
import type { OpFrame } from "../interaction/mod.ts";
import { owner, send } from "./fixture.ts";
import { createSessions } from "./sessions.ts";
import type { RunContext, RunOutcome } from "./types.ts";

const [source = "", runtime = "", life = "0"] = process.argv.slice(2);

/** Written at once: what is printed was told before the kill. */
function tell(line: string): void {
  writeSync(1, `${line}\n`);
}

async function execute(context: RunContext): Promise<RunOutcome> {
  for (let index = 0; index < 3; index++) {
    const call = await context.toolCall("fs.read", { index });
    tell(`tool ${context.session} ${call}`);
    await context.toolResult(call, "fs.read", {
      status: "ok",
      output: "x".repeat(300),
      dropped: 0,
    });
    context.delta("text");
  }
  await context.message(`answer ${"y".repeat(5000)}`);
  return { status: "ok" };
}

const sessions = createSessions({
  source,
  runtime,
  agent: () => ({ owner }),
  executor: execute,
  modelName: () => "debug/echo",
  record: "arguments",
  approvalTimeoutMs: 60_000,
  idleMs: 60_000,
  now: () => new Date(),
});

async function follow(session: string, id: string): Promise<void> {
  for await (const frame of await sessions.send("coder", send(id, { session }))) {
    if (frame.type !== "started" && "seq" in frame)
      tell(`told ${session} ${frame.seq} ${nameOf(frame)}`);
  }
}

function nameOf(frame: OpFrame): string {
  return frame.type === "start" ? `start ${frame.id}` : frame.type;
}

async function talk(session: string): Promise<void> {
  for (let round = 0; ; round++) {
    const ids = [0, 1, 2].map((index) => `${life}-${session}-${round}-${index}`);
    await Promise.all(ids.map((id) => follow(session, id)));
  }
}

tell("ready");
await Promise.all([talk("one"), talk("two")]);
