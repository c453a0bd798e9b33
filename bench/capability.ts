// How long a program in a run waits for its host: the answers to `tool.authorize` and `agent.update`
// over the capability socket, timed inside of the sandbox, beside a bare echo and a bare disk.

import { appendFileSync, chmodSync, copyFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { RawClient } from "../testdata/e2e/raw-client.ts";
import type { World } from "../testdata/e2e/world.ts";
import type { Result } from "./measure.ts";

const script = resolve(import.meta.dir, "../testdata/run-socket/times.py");
const rounds = 200;
/** Of half of the answers, with the writes that an update has to wait for. */
const millisecondsMax = 2;

export async function answerTimes(world: World): Promise<Result[]> {
  const policy = join(world.source, "agent/coder.d/policy");
  appendFileSync(policy, "allow coder_t tool:agent.update execute\n");
  const program = join(world.workspace, "times.py");
  copyFileSync(script, program);
  chmodSync(program, 0o755);
  const { authorize, update, echo, disk } = await medians(world);
  const echoes = (time: number) => `${time.toFixed(2)} ms, ${(time / echo).toFixed(0)} bare echoes`;
  const common = { limit: millisecondsMax, unit: "ms" } as const;
  return [
    {
      ...{ ...common, name: "answer to tool.authorize", value: authorize },
      detail: echoes(authorize),
    },
    {
      ...{ ...common, name: "answer to agent.update", value: update },
      detail: `${echoes(update)}; the same writes alone ${disk.toFixed(2)} ms`,
    },
  ];
}

interface Medians {
  readonly echo: number;
  readonly disk: number;
  readonly authorize: number;
  readonly update: number;
}

async function medians(world: World): Promise<Medians> {
  const client = new RawClient(join(world.source, "agent/coder.sock"), world.uid);
  const cmd = `/usr/bin/python3 /workspace/times.py ${rounds}`;
  client.send({
    ...{ op: "send", id: `capability-${crypto.randomUUID()}`, session: "capability" },
    ...{
      input: `@call shell.exec ${JSON.stringify({ cmd })}\n@say done`,
      workspace: world.workspace,
    },
  });
  const result = await client.until((frame) => frame.type === "tool_result");
  await client.done();
  client.socket.destroy();
  const content = String(result?.["content"]);
  if (!content.startsWith("{")) throw new Error(`${cmd}: ${content}`);
  return JSON.parse(content.split("\n", 1)[0] as string);
}
