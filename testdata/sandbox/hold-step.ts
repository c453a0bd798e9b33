// Starts a step whose program would leave a file in the workspace, and never opens its gate:
// `hold-step.ts SCENE AGENT [pause]`. Prints `starting`, the launch root's pid before any gate opens,
// `standing` when the gate could be opened, `failed` when the launch ended before; stays in any case.
// With `pause` it stops at the pid, both gates shut, until its standard input ends.

import { readSync } from "node:fs";
import { join } from "node:path";
import { standSandbox } from "../../internal/bwrap/mod.ts";
import { GeneratedFolders } from "../../internal/launch/generated.ts";
import { planStep } from "../../internal/launch/plan.ts";
import { Stand } from "../../internal/launch/stand.ts";
import { openTree } from "../../internal/tree/mod.ts";
import { placesOf, type Scene, stepRequest } from "./scene.ts";

const [given = "{}", agent = "", pause] = process.argv.slice(2);
const scene = JSON.parse(given) as Scene;
const hostPath = join(scene.source, "agent", agent);
const program = { viewPath: `/ctx/agent/${agent}`, hostPath };
const request = stepRequest(scene, { agent, program });
const { runtime, serverUid, rootAgents } = scene;
const tree = openTree(scene.source);
const launcher = { places: placesOf(scene), runtime, tree, serverUid, rootAgents };
const options = { ...launcher, ctxBinary: "/nonexistent", parallelMax: 1 };
const plan = planStep(options, new GeneratedFolders(runtime), request);
const start = new Stand(request, plan, new Set()).options(new AbortController().signal);
console.log("starting");
try {
  await standSandbox({
    ...start,
    program: [plan.program.view],
    combined: false,
    stdin: request.stdin,
    register(root) {
      start.register?.(root);
      console.log(`root ${root.pid}`);
      if (pause === "pause") readSync(0, new Uint8Array(1));
    },
    async prepare(standing) {
      await start.prepare?.(standing);
      console.log("standing");
      await new Promise((resolve) => setTimeout(resolve, 60_000));
    },
  });
} catch {
  console.log("failed");
  // As a server does. What the launch left must not wait for the server's own end.
  await new Promise((resolve) => setTimeout(resolve, 60_000));
}
