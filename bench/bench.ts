// `make bench`: speed and memory against the limits of the product, as ratios of the same run where
// a ratio says more than a time. Ends with status 1 when a limit is passed.

import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { addModel } from "../packaging/demo/model.ts";
import { dist, World } from "../testdata/e2e/world.ts";
import { startModelServer } from "../testdata/model-server/server.ts";
import { answerTimes } from "./capability.ts";
import { decodeRatio } from "./decode.ts";
import { mcpResults } from "./mcp.ts";
import { print } from "./measure.ts";
import { toolCallRatios } from "./sandbox.ts";
import { servedCall } from "./served.ts";
import { startRatios } from "./start.ts";
import { stepRatios } from "./step.ts";
import { terminalResults } from "./terminal.ts";
import { memoryAfterTurns, wholeSend } from "./turn.ts";

const model = startModelServer({ mode: "script", instant: true });
const world = new World();
let within = true;
try {
  within = print(decodeRatio()) && within;
  for (const result of await stepRatios(dist)) within = print(result) && within;
  await world.bootstrap();
  const places = {
    source: world.source,
    config: join(world.base, "config"),
    secrets: join(world.base, "secrets"),
  };
  const name = addModel(places, { name: "instant", baseUrl: model.baseUrl }, "");
  appendFileSync(join(world.source, "agent/coder.d/policy"), `allow coder_t model:${name} use\n`);
  await choose(name);
  await world.serve();
  for (const result of await startRatios(world)) within = print(result) && within;
  within = print(await wholeSend(world)) && within;
  within = print(await memoryAfterTurns(world)) && within;
  // A model in the server itself, so that nothing but the call is between its two frames.
  await choose("debug/script");
  for (const result of await toolCallRatios(world)) within = print(result) && within;
  for (const result of await answerTimes(world)) within = print(result) && within;
  within = print(await servedCall()) && within;
  for (const result of await terminalResults()) within = print(result) && within;
  for (const result of await mcpResults()) within = print(result) && within;
} finally {
  await world.destroy();
  await model.stop();
}

async function choose(chosen: string): Promise<void> {
  const done = await world.run(["ctx", "set", "agent/coder.d/model", chosen]);
  if (done.exit !== 0) throw new Error(done.stderr);
}

process.exit(within ? 0 : 1);
