// A world's agent on a model server of the test's own, so that a test sees what the model was given.

import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startModelServer } from "../model-server/server.ts";
import type { World } from "./world.ts";

/** The agent `coder` of a tree that is made already; a script in its input says what the model does. */
export async function giveLoopModel(world: World): Promise<ReturnType<typeof startModelServer>> {
  const server = startModelServer({ mode: "script" });
  mkdirSync(join(world.base, "config/providers.d"));
  const provider = {
    name: "loop",
    base_url: server.baseUrl,
    formats: ["openai.chat"],
    models: ["m"],
  };
  writeFileSync(join(world.base, "config/providers.d/loop.json"), JSON.stringify(provider));
  mkdirSync(join(world.base, "secrets/provider/loop"), { recursive: true, mode: 0o700 });
  chmodSync(join(world.base, "secrets/provider"), 0o700);
  writeFileSync(join(world.base, "secrets/provider/loop/default"), "sk-any\n", { mode: 0o600 });
  const object = join(world.source, "model/loop");
  mkdirSync(join(object, "m.d"), { recursive: true });
  writeFileSync(join(object, "m.d/id"), "m\n");
  writeFileSync(join(object, "m.d/driver"), "openai.chat\n");
  const runner = readFileSync(join(world.source, "model/debug/echo"), "utf8");
  writeFileSync(join(object, "m"), runner.replaceAll("debug/echo", "loop/m"), { mode: 0o755 });
  const policy = readFileSync(join(world.source, "agent/coder.d/policy"), "utf8");
  const widened = `${policy}allow coder_t model:loop/m use\n`;
  await world.run(["ctx", "set", "agent/coder.d/policy", widened]);
  await world.run(["ctx", "set", "agent/coder.d/model", "loop/m"]);
  return server;
}

/** Names of the tools that a system message shows as loaded, in its order. */
export function loadedIn(prompt: string | undefined): string[] {
  return [...(prompt ?? "").matchAll(/^\{"name":"([^"]+)".*$/gm)].map(([, name = ""]) => name);
}
