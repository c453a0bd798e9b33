// How long a program in a run waits for its host: the answers to `tool.authorize` and `agent.update`
// over the capability socket, timed inside of the sandbox, against a bare echo beside it.

import { appendFileSync, chmodSync, copyFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { RawClient } from "../testdata/e2e/raw-client.ts";
import type { World } from "../testdata/e2e/world.ts";
import type { Result } from "./measure.ts";

const script = resolve(import.meta.dir, "../testdata/run-socket/times.py");
const rounds = 200;
/** Of half of the answers. An update waits for the disk, once for its record and once for the text. */
const secondsMax = 0.002;

const requests = ["authorize", "update"] as const;
const operations = { authorize: "tool.authorize", update: "agent.update" } as const;

export async function answerTimes(world: World): Promise<Result[]> {
  const policy = join(world.source, "agent/coder.d/policy");
  appendFileSync(policy, "allow coder_t tool:agent.update execute\n");
  const program = join(world.workspace, "times.py");
  copyFileSync(script, program);
  chmodSync(program, 0o755);
  const times = await medians(world);
  return requests.map((name) => ({
    name: `answer to ${operations[name]}`,
    value: times[name] / 1000,
    limit: secondsMax,
    unit: "s",
    detail: `${times[name].toFixed(2)} ms, ${(times[name] / times.echo).toFixed(0)} bare echoes`,
  }));
}

async function medians(world: World): Promise<Record<(typeof requests)[number] | "echo", number>> {
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
