// A call of a server's tool in a run whose server is up, against the same call of the same server over
// bare pipes: what lies between is the record of the call, the decision, two processes and the record of
// its result.

import { resolve } from "node:path";
import { McpWorld, mcpSettings } from "../testdata/e2e/mcp-world.ts";
import { RawClient } from "../testdata/e2e/raw-client.ts";
import type { Frame } from "../testdata/e2e/world.ts";
import { median, type Result } from "./measure.ts";

const calls = 60;
const millisecondsMax = 5;
const server = resolve(import.meta.dir, "../testdata/mcp/plain_server.py");

export async function servedCall(): Promise<Result> {
  const world = new McpWorld();
  try {
    await world.project();
    await world.install("echo");
    world.allow("plain.echo");
    await world.serve(mcpSettings);
    const [whole, own] = [await callsOfARun(world), await bareCalls()];
    return {
      name: "second call of a server's tool, beyond the server",
      value: whole - own,
      limit: millisecondsMax,
      unit: "ms",
      detail: `${whole.toFixed(2)} ms against ${own.toFixed(2)} ms over bare pipes`,
    };
  } finally {
    await world.destroy();
  }
}

/** Median milliseconds from `tool_call` to `tool_result`, without the first call. */
async function callsOfARun(world: McpWorld): Promise<number> {
  const args = JSON.stringify({ args: ["plain.echo", '{"text":"x"}'] });
  const input = [...Array<string>(calls).fill(`@call tsh ${args}`), "@say done"].join("\n");
  const client = new RawClient(`${world.source}/agent/coder.sock`, world.uid);
  const times: number[] = [];
  let begun = 0;
  const { workspace } = world;
  client.send({ op: "send", id: "served", session: "served", input, workspace });
  // Asked of each frame when it comes.
  const isDone = ({ type, status }: Frame) => {
    if (type === "tool_call") begun = performance.now();
    if (type === "tool_result" && status === "ok") times.push(performance.now() - begun);
    return type === "done";
  };
  await client.until(isDone);
  client.socket.destroy();
  if (times.length !== calls) throw new Error(`${times.length} of ${calls} calls were answered`);
  return median(times.slice(1));
}

async function bareCalls(): Promise<number> {
  const child = Bun.spawn(["/usr/bin/python3", server], { stdin: "pipe", stdout: "pipe" });
  const reader = child.stdout.getReader();
  const times: number[] = [];
  for (let id = 0; id < calls; id += 1) {
    const params = { name: "echo", arguments: { text: "x" } };
    const begun = performance.now();
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params })}\n`);
    child.stdin.flush();
    await reader.read();
    times.push(performance.now() - begun);
  }
  child.kill();
  await child.exited;
  return median(times.slice(1));
}
