// A service is killed with SIGKILL at random moments, again and again on the same tree. Whatever a
// client was told must be there afterwards; what was cut says so; no tool runs twice.
// CTX_LONG=1 kills it 200 times instead of 10.

import { expect, test } from "bun:test";
import { join } from "node:path";
import {
  collect,
  oneCall,
  type Place,
  place,
  readLines,
  resume,
  send,
  service,
} from "./fixture.ts";

const kills = process.env["CTX_LONG"] === "1" ? 200 : 10;

interface Life {
  /** `session seq name` lines that clients were told. */
  readonly told: readonly string[];
  readonly tools: readonly string[];
}

async function liveAndDie(at: Place, life: number, killAfterLines: number): Promise<Life> {
  const child = Bun.spawn({
    cmd: [
      process.execPath,
      join(import.meta.dir, "crash-child.ts"),
      at.source,
      at.runtime,
      String(life),
    ],
    stdout: "pipe",
    stderr: "inherit",
  });
  let text = "";
  let killed = false;
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    text += decoder.decode(chunk, { stream: true });
    if (killed || text.split("\n").length <= killAfterLines) continue;
    child.kill("SIGKILL");
    killed = true;
  }
  await child.exited;
  expect(child.signalCode).toBe("SIGKILL");
  const lines = text.split("\n").slice(0, -1);
  return {
    told: lines.filter((line) => line.startsWith("told ")).map((line) => line.slice(5)),
    tools: lines.filter((line) => line.startsWith("tool ")).map((line) => line.slice(5)),
  };
}

/** Reads a session's file after recovery and checks what must always hold. */
function check(at: Place, session: string, lives: readonly Life[]): number {
  const events = at.events(session);
  expect(events.map((one) => one["seq"])).toEqual(events.map((_, index) => index + 1));
  const told = lives.flatMap((life) => life.told).filter((line) => line.startsWith(`${session} `));
  for (const line of told) {
    const [, seq = "", name = "", id] = line.split(" ");
    const event = events[Number(seq) - 1];
    expect(kinds[name]).toBe(String(event?.["type"]));
    if (id !== undefined) expect(event?.["request"]).toBe(id);
  }
  const of = (type: string) => events.filter((one) => one["type"] === type);
  const calls = of("tool.call").map((one) => String(one["call"]));
  expect(of("tool.result").map((one) => one["call"])).toEqual(calls);
  const ran = lives.flatMap((life) => life.tools).filter((line) => line.startsWith(`${session} `));
  expect(new Set(ran).size).toBe(ran.length);
  for (const line of ran) expect(calls).toContain(line.split(" ")[1] as string);
  const accepted = of("request.accepted").map((one) => one["run"]);
  const done = of("run.done").map((one) => one["run"]);
  expect([...done].sort()).toEqual([...accepted].sort());
  const lines = readLines(join(at.sessionFolder(session), "messages.jsonl"));
  expect(lines.map((one) => one["id"])).toEqual(of("message").map((one) => one["message"]));
  return of("run.done").filter((one) => one["status"] === "interrupted").length;
}

const kinds: Readonly<Record<string, string>> = {
  start: "request.accepted",
  message: "message",
  tool_call: "tool.call",
  tool_result: "tool.result",
  done: "run.done",
};

test(
  `${kills} kills lose nothing that was told and run nothing twice`,
  async () => {
    const at = place();
    const lives: Life[] = [];
    let interrupted = 0;
    try {
      for (let life = 0; life < kills; life++) {
        lives.push(await liveAndDie(at, life, 2 + Math.floor(Math.random() * 150)));
        const sessions = service(at, oneCall);
        for (const session of ["one", "two"]) {
          const told = lives.flatMap(({ told }) => told).find((one) => one.startsWith(session));
          if (told === undefined) continue;
          const frames = await collect(await sessions.resume("coder", resume("0", session)));
          expect(frames.at(-1)?.type).toBe("done");
          interrupted += check(at, session, lives);
          const first = told.split(" ")[3] as string;
          const before = at.events(session).length;
          const replay = await collect(await sessions.send("coder", send(first, { session })));
          expect(replay.at(-1)?.type).toBe("done");
          expect(at.events(session).length).toBe(before);
        }
        await sessions.close();
      }
      expect(lives.flatMap((life) => life.told).length).toBeGreaterThan(kills * 10);
      expect(interrupted).toBeGreaterThan(0);
    } finally {
      at.remove();
    }
  },
  kills * 30_000,
);
