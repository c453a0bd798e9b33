// What a person waits for: one message with one command in the sandbox, whole; and what is left in
// ctxd's memory after a thousand messages. The model answers at once, from loopback.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { RawClient } from "../testdata/e2e/raw-client.ts";
import { dist, type World } from "../testdata/e2e/world.ts";
import { median, medianTimes, type Result, runProgram } from "./measure.ts";

const sendRounds = 15;
const sendSecondsMax = 0.25;
const turns = 1000;
const residentMiBMax = 90;
const sessions = 10;

export async function wholeSend(world: World): Promise<Result> {
  const argv = [join(dist, "ctx"), "agent", "send", "coder", "--session", "whole"];
  const input = `@call shell.exec {"cmd":"echo done"}\n@say finished`;
  const send = async () => {
    const out = await runProgram([...argv, input], { env: world.env, cwd: world.workspace });
    if (out.trim() !== "finished") throw new Error(`the answer was ${JSON.stringify(out)}`);
  };
  const [milliseconds = 0] = await medianTimes([send], sendRounds);
  return {
    name: "ctx agent send with one shell.exec",
    value: milliseconds / 1000,
    limit: sendSecondsMax,
    unit: "s",
    detail: `median of ${sendRounds}`,
  };
}

export interface TimedCall {
  readonly tool: string;
  readonly args: unknown;
  /** How long the model thinks before it calls. */
  readonly thinkMs: number;
  readonly session: string;
}

/** Milliseconds of one call of a tool, from `tool_call` to `tool_result` as a client sees them. */
export async function callTime(world: World, call: TimedCall): Promise<number> {
  const { tool, args, thinkMs, session } = call;
  const client = new RawClient(join(world.source, "agent/coder.sock"), world.uid);
  const think = thinkMs > 0 ? `@delay ${thinkMs}\n` : "";
  const input = `${think}@call ${tool} ${JSON.stringify(args)}\n@say finished`;
  const id = `call-${crypto.randomUUID()}`;
  client.send(sendRequest(id, session, input, world.workspace));
  await client.until((frame) => frame.type === "tool_call");
  const begun = performance.now();
  const result = await client.until((frame) => frame.type === "tool_result");
  const time = performance.now() - begun;
  const done = await client.done();
  client.socket.destroy();
  if (result?.["status"] !== "ok" || done?.["status"] !== "ok") {
    throw new Error(`${tool}: ${JSON.stringify(result)} ${JSON.stringify(done)}`);
  }
  return time;
}

/** A run that fails leaves no sandbox for the agent's next one. */
export async function endStandbys(world: World): Promise<void> {
  const client = new RawClient(join(world.source, "agent/coder.sock"), world.uid);
  const id = `fail-${crypto.randomUUID()}`;
  client.send(sendRequest(id, "failing", "@error EIO meant", world.workspace));
  const done = await client.done();
  client.socket.destroy();
  if (done?.["status"] !== "error") throw new Error(`it did not fail: ${JSON.stringify(done)}`);
}

/** Past the server's own wait before it collects. */
const settleMs = 3000;

export async function memoryAfterTurns(world: World): Promise<Result> {
  const milliseconds: number[] = [];
  const client = async (session: number) => {
    for (let turn = 0; turn < turns / sessions; turn++) {
      const begun = performance.now();
      const socket = new RawClient(join(world.source, "agent/coder.sock"), world.uid);
      const id = `turn-${session}-${turn}`;
      socket.send(sendRequest(id, `memory-${session}`, "@say a short answer", world.workspace));
      const done = await socket.done();
      socket.socket.destroy();
      if (done?.["status"] !== "ok") throw new Error(`turn ${id}: ${JSON.stringify(done)}`);
      milliseconds.push(performance.now() - begun);
    }
  };
  await Promise.all(Array.from({ length: sessions }, (_, session) => client(session)));
  const busy = residentKiB(world.serverPid) / 1024;
  // The server gives memory back a second after its last work.
  await Bun.sleep(settleMs);
  const turn = `a turn ${median(milliseconds).toFixed(0)} ms`;
  return {
    name: `ctxd resident after ${turns} turns`,
    value: residentKiB(world.serverPid) / 1024,
    limit: residentMiBMax,
    unit: "MiB",
    detail: `${sessions} sessions at once, ${turn}, ${busy.toFixed(0)} MiB at the last turn`,
  };
}

function sendRequest(id: string, session: string, input: string, workspace: string) {
  return { op: "send", id: `bench-${id}`, session, input, workspace };
}

function residentKiB(pid: number): number {
  const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(found?.[1]);
}
