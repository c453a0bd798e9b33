import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { leftoversAfterGrace, sandboxes } from "./leftovers.ts";
import { RawClient } from "./raw-client.ts";
import { type Frame, World } from "./world.ts";

const world = new World();
const kills = process.env["CTX_LONG"] === "1" ? 200 : 20;

beforeAll(async () => {
  await world.bootstrap();
  await world.run(["ctx", "set", "agent/coder.d/model", "debug/script"]);
});
afterAll(() => world.destroy());

/**
 * Two calls with a side effect each, so that a call run twice would show in the file, and pauses of
 * the model in which the next sandbox is built and waits.
 */
function script(round: number): string {
  const call = (n: number) =>
    `@call shell.exec {"cmd":"echo ${n} >> /workspace/did-${round}; sleep 0.05"}`;
  return `${call(1)}\n@delay 120\n${call(2)}\n@delay 80\n@say done`;
}

/** Cuts a run at a random moment; gives back what the client had been told by then. */
async function cut(round: number, afterMs: number): Promise<Frame[]> {
  await world.serve();
  const client = new RawClient(`${world.source}/agent/coder.sock`, world.uid).send({
    op: "send",
    id: `cut-${round}`,
    session: `cut-${round}`,
    workspace: world.workspace,
    input: script(round),
  });
  await Promise.race([client.done(), Bun.sleep(afterMs)]);
  await world.stop("SIGKILL");
  await client.closed;
  return client.frames;
}

async function statusOf(session: string): Promise<Frame | undefined> {
  const client = new RawClient(`${world.source}/agent/coder.sock`, world.uid);
  client.send({ op: "status", session });
  const frame = await client.until((one) => one.type === "status" || one.type === "error");
  client.end();
  return frame;
}

function check(round: number, told: Frame[]): void {
  const events = world.events(`cut-${round}`);
  expect(events.map((event) => event["seq"])).toEqual(events.map((_, at) => at + 1));
  for (const frame of told.filter((one) => one.seq !== undefined)) {
    expect(events.map((event) => event["seq"])).toContain(frame.seq as number);
  }
  const of = (type: string) => events.filter((event) => event["type"] === type);
  expect(of("request.accepted").length).toBe(1);
  expect(of("run.done").length).toBe(1);
  expect(["interrupted", "ok"]).toContain(of("run.done")[0]?.["status"] as string);
  expect(of("tool.result").map((event) => event["call"])).toEqual(
    of("tool.call").map((event) => event["call"]),
  );
  const did = `${world.workspace}/did-${round}`;
  const effects = existsSync(did) ? readFileSync(did, "utf8").trim().split("\n") : [];
  expect(new Set(effects).size).toBe(effects.length);
}

test(`kill -9 at ${kills} random moments loses nothing, repeats nothing and leaves nothing`, async () => {
  const outcomes: Frame[][] = [];
  for (let round = 0; round < kills; round++) {
    outcomes.push(await cut(round, Math.random() * 600));
    expect(await leftoversAfterGrace(world)).toEqual([]);
  }
  await world.serve();
  let interrupted = 0;
  for (const [round, told] of outcomes.entries()) {
    if (!existsSync(`${world.sessionFolder(`cut-${round}`)}/events.jsonl`)) {
      expect(told.filter((frame) => frame.seq !== undefined)).toEqual([]);
      continue;
    }
    const status = await statusOf(`cut-${round}`);
    if (status?.type === "error") {
      // Killed after the folder was made and before anything was accepted.
      expect([status["code"], told.length]).toEqual(["ENOENT", 0]);
      continue;
    }
    const accepted = world.events(`cut-${round}`).some(({ type }) => type === "request.accepted");
    if (!accepted) {
      // Killed between the session's own first event and the acceptance: nothing was promised.
      expect(told).toEqual([]);
      continue;
    }
    check(round, told);
    if (world.events(`cut-${round}`).at(-1)?.["status"] === "interrupted") interrupted++;
  }
  expect(interrupted).toBeGreaterThan(0);
}, 600_000);

/** Ends when two of it have begun. */
const meeting = "echo >> met; until [ $(wc -l < met) -ge 2 ]; do sleep 0.02; done";

for (const signal of ["SIGTERM", "SIGKILL"] as const) {
  test(`a server ended by ${signal} leaves nothing of what waited for the next runs`, async () => {
    await world.stop();
    await world.serve();
    rmSync(join(world.workspace, "met"), { force: true });
    const sessions = [`rest-${signal}`, `more-${signal}`];
    // At once, since one after the other they would use the same sandbox.
    const clients = sessions.map((session) =>
      new RawClient(`${world.source}/agent/coder.sock`, world.uid).send({
        ...{ op: "send", id: session, session, workspace: world.workspace },
        input: `@call shell.exec ${JSON.stringify({ cmd: meeting })}\n@say done`,
      }),
    );
    for (const client of clients) {
      expect(await client.done()).toMatchObject({ status: "ok" });
      client.end();
    }
    const until = Date.now() + 10_000;
    while (sandboxes(world).length < sessions.length && Date.now() < until) await Bun.sleep(5);
    expect(sandboxes(world).length).toBe(sessions.length);
    await world.stop(signal);
    expect(await leftoversAfterGrace(world)).toEqual([]);
  }, 60_000);
}
