import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { RawClient } from "./raw-client.ts";
import { World } from "./world.ts";

const world = new World();
/** What a leak of one descriptor or page a session would show in. */
const sessions = process.env["CTX_LONG"] === "1" ? 200 : 60;

beforeAll(async () => {
  await world.bootstrap();
  await world.run(["ctx", "set", "agent/coder.d/model", "debug/script"]);
  await world.serve(["--set", "session_idle_ms=500"]);
});
afterAll(() => world.destroy());

function descriptors(): number {
  return readdirSync(`/proc/${world.serverPid}/fd`).length;
}

function residentBytes(): number {
  const line = readFileSync(`/proc/${world.serverPid}/status`, "utf8").match(/VmRSS:\s+(\d+)/);
  return Number(line?.[1]) * 1024;
}

async function round(tag: string): Promise<void> {
  const clients = Array.from({ length: sessions }, (_, index) =>
    new RawClient(`${world.source}/agent/coder.sock`, world.uid).send({
      op: "send",
      id: `${tag}-${index}`,
      session: `many-${index}`,
      workspace: world.workspace,
      input: `@call shell.exec {"cmd":"echo n${index}"}\n@result`,
    }),
  );
  const ends = await Promise.all(clients.map((client) => client.done()));
  expect(ends.map((end) => end?.["status"])).toEqual(Array(sessions).fill("ok"));
  clients.forEach((client, index) => {
    const result = client.frames.find((frame) => frame.type === "tool_result");
    expect(result?.["content"]).toContain(`n${index}\n`);
  });
  await Promise.all(clients.map((client) => client.closed));
}

/** Waits, at most 15 s, until no more descriptors are open than `limit`. */
async function settled(limit: number): Promise<number> {
  const until = Date.now() + 15_000;
  while (descriptors() > limit && Date.now() < until) await Bun.sleep(50);
  return descriptors();
}

test(`${sessions} sessions at once all end ok, whole, and give everything back`, async () => {
  // A few descriptors belong to parts that open on first use and stay: hence the slack.
  const idle = descriptors() + 6;
  await round("warm");
  expect(await settled(idle)).toBeLessThanOrEqual(idle);
  const memory = residentBytes();
  await round("again");
  expect(await settled(idle)).toBeLessThanOrEqual(idle);
  expect(residentBytes()).toBeLessThan(memory * 1.25);
  for (let index = 0; index < sessions; index++) {
    const events = world.events(`many-${index}`);
    expect(events.map((event) => event["seq"])).toEqual(events.map((_, at) => at + 1));
    expect(events.filter((event) => event["type"] === "run.done").length).toBe(2);
    expect(events.filter((event) => event["type"] === "tool.call").length).toBe(2);
    expect(events.filter((event) => event["type"] === "tool.result").length).toBe(2);
    expect(world.messages(`many-${index}`).length).toBe(4);
  }
}, 180_000);
