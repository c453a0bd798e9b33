import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Stage, text } from "./clients-stage.ts";
import {
  clientInputBytesMax,
  clientQueueBytesHardMax,
  clientQueueBytesMax,
  clientStallMs,
  type FirstLine,
} from "./mod.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const watch: FirstLine = { mode: "watch", framed: false };
const attach: FirstLine = { mode: "attach", framed: true };

type Move =
  | { do: "join"; framed: boolean; mode: "watch" | "attach" }
  | { do: "data"; length: number }
  | { do: "shoot" }
  | { do: "take"; who: number; bytes: number }
  | { do: "size"; who: number; cols: number }
  | { do: "type"; who: number; length: number }
  | { do: "written" }
  | { do: "leave"; who: number };

const who = fc.nat(9);
const move: fc.Arbitrary<Move> = fc.oneof(
  fc.record({
    ...{ do: fc.constant("join" as const), framed: fc.boolean() },
    mode: fc.constantFrom("watch" as const, "attach" as const),
  }),
  fc.record({ do: fc.constant("data" as const), length: fc.integer({ min: 1, max: 40 }) }),
  fc.record({ do: fc.constant("shoot" as const) }),
  fc.record({ do: fc.constant("take" as const), who, bytes: fc.nat(100) }),
  fc.record({ do: fc.constant("size" as const), who, cols: fc.integer({ min: 1, max: 200 }) }),
  fc.record({ do: fc.constant("type" as const), who, length: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ do: fc.constant("written" as const) }),
  fc.record({ do: fc.constant("leave" as const), who }),
);

/** What a client saw: the position that its snapshot stands for, and the output after it. */
function seen(stage: Stage, client: number, first: FirstLine): string {
  if (!first.framed) return text(stage.taken.get(client) ?? []);
  const shown = stage.frames(client).filter(({ type }) => type === "data" || type === "snapshot");
  return text(shown.map((frame) => (frame as { data: Uint8Array }).data));
}

describe("clients of a terminal", () => {
  test("each see a snapshot and then every byte after it, whatever happens to the others", () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 80 }), (moves) => {
        const stage = new Stage();
        const joined: FirstLine[] = [];
        const left = new Set<number>();
        let output = "";
        let next = 0;
        let keys = 0;
        const sent: string[] = [];
        for (const one of moves) {
          const client = "who" in one ? one.who % Math.max(joined.length, 1) : 0;
          const first = joined[client];
          if (one.do === "join") {
            stage.join(joined.length, { mode: one.mode, framed: one.framed });
            joined.push({ mode: one.mode, framed: one.framed });
          } else if (one.do === "data") {
            const chunk = Uint8Array.from({ length: one.length }, () => 97 + (next++ % 26));
            output += text([chunk]);
            stage.data(chunk);
          } else if (one.do === "shoot") stage.shoot();
          else if (one.do === "written" && stage.of("write").length > sent.length) {
            sent.push(stage.typed[sent.length] as string);
            stage.step({ kind: "written" });
          } else if (first === undefined || left.has(client)) continue;
          else if (one.do === "take") stage.take(client, one.bytes);
          else if (one.do === "size") {
            const { nowMs } = stage;
            stage.step({ kind: "size", client, cols: one.cols, rows: 24, nowMs });
          } else if (one.do === "type") {
            const whole = `[${client}:${keys++}]`;
            stage.step({ kind: "input", client, bytes: bytes(whole) });
          } else if (one.do === "leave") {
            left.add(client);
            stage.step({ kind: "leave", client });
          }
        }
        while (stage.asked.length > 0) stage.shoot();
        for (const [client, first] of joined.entries()) {
          if (left.has(client)) continue;
          stage.take(client);
          const [, position, rest] = /^<(\d+)>(.*)$/s.exec(seen(stage, client, first)) ?? [];
          expect(rest).toBe(output.slice(Number(position)));
        }
        const isWhole = (typed: string) => /^\[\d+:\d+\]$/.test(typed);
        expect(stage.typed.every(isWhole)).toBe(true);
        expect(stage.machine.queuedBytes).toBe(0);
      }),
    );
  });

  test("that joined while a snapshot was made wait for the next one", () => {
    const stage = new Stage();
    stage.join(1, watch);
    stage.data(bytes("ab"));
    stage.join(2, watch);
    stage.data(bytes("cd"));
    stage.shoot();
    stage.take(1);
    stage.take(2);
    expect(text(stage.taken.get(1) ?? [])).toBe("<0>abcd");
    expect(stage.taken.get(2)).toBeUndefined();
    stage.data(bytes("ef"));
    stage.shoot();
    stage.take(2);
    expect(text(stage.taken.get(2) ?? [])).toBe("<4>ef");
  });

  test("that stop reading are dropped for it, with a reason where the form has room for one", () => {
    const stage = new Stage();
    stage.join(1, watch);
    stage.join(2, { mode: "watch", framed: true });
    stage.join(3, watch);
    stage.shoot();
    stage.shoot();
    const chunk = new Uint8Array(1024 * 1024);
    for (let sum = 0; sum <= clientQueueBytesMax; sum += chunk.length) {
      stage.data(chunk);
      stage.take(3);
    }
    stage.take(2, 100_000);
    stage.step({ kind: "tick", nowMs: clientStallMs - 1 });
    expect(stage.of("dropped")).toEqual([]);
    stage.step({ kind: "tick", nowMs: clientStallMs });
    expect(stage.of("dropped").map(({ client, code }) => [client, code])).toEqual([
      [1, "slow_consumer"],
      [2, "slow_consumer"],
    ]);
    expect(stage.of("cut")).toEqual([{ kind: "cut", client: 1 }]);
    // It still gets the frame that was begun, and then why.
    stage.take(2);
    const frames = stage.frames(2);
    expect(frames.at(-1)).toMatchObject({ type: "error", code: "slow_consumer" });
    expect(stage.of("finish")).toEqual([{ kind: "finish", client: 2 }]);
    expect(stage.machine.queuedBytes).toBe(0);
  });

  test("are dropped at the hard bound at once, and a burst below the soft one drops nobody", () => {
    const stage = new Stage();
    stage.join(1, watch);
    stage.shoot();
    stage.data(new Uint8Array(clientQueueBytesMax - 3));
    stage.step({ kind: "tick", nowMs: 60_000 });
    expect(stage.of("dropped")).toEqual([]);
    stage.nowMs = 60_000;
    stage.take(1, 1);
    for (let sum = 0; sum <= clientQueueBytesHardMax; sum += 1_000_000) {
      stage.data(new Uint8Array(1_000_000));
    }
    expect(stage.of("dropped")).toMatchObject([{ client: 1, code: "slow_consumer" }]);
    expect(stage.machine.count).toBe(0);
  });

  test("decide the size by who did something last, never by watching, anew on every leave", () => {
    const stage = new Stage();
    const size = (client: number, cols: number) =>
      stage.step({ kind: "size", client, cols, rows: 24, nowMs: 0 });
    stage.join(1, attach);
    stage.join(2, attach);
    stage.join(3, { mode: "watch", framed: true });
    size(1, 100);
    size(2, 120);
    size(3, 200);
    expect(stage.machine.size.cols).toBe(120);
    stage.step({ kind: "input", client: 1, bytes: bytes("x") });
    expect(stage.machine.size.cols).toBe(100);
    stage.step({ kind: "leave", client: 1 });
    expect(stage.machine.size.cols).toBe(120);
    stage.step({ kind: "leave", client: 2 });
    expect(stage.machine.size.cols).toBe(120);
    expect(stage.of("resize").map(({ cols }) => cols)).toEqual([100, 120, 100, 120]);
    while (stage.asked.length > 0) stage.shoot();
    size(3, 90);
    stage.join(4, attach);
    size(4, 60);
    while (stage.asked.length > 0) stage.shoot();
    stage.take(3);
    expect(stage.frames(3)).toMatchObject([{ type: "snapshot" }, { type: "resize", cols: 60 }]);
  });

  test("leave the answers to programs' questions to the emulator only while nobody is attached", () => {
    const stage = new Stage();
    stage.step({ kind: "answer", bytes: bytes("one") });
    stage.join(1, watch);
    stage.join(2, attach);
    stage.step({ kind: "answer", bytes: bytes("two") });
    stage.step({ kind: "leave", client: 2 });
    stage.step({ kind: "written" });
    stage.step({ kind: "answer", bytes: bytes("three") });
    expect(stage.typed).toEqual(["one", "three"]);
    expect(stage.of("answering").map(({ on }) => on)).toEqual([false, true]);
  });

  test("type one whole write at a time, and wait at their bound", () => {
    const stage = new Stage();
    stage.join(1, attach);
    stage.join(2, attach);
    stage.join(3, watch);
    const type = (client: number, typed: string) =>
      stage.step({ kind: "input", client, bytes: bytes(typed) });
    type(1, "first ");
    type(2, "x".repeat(clientInputBytesMax + 1));
    type(1, "second ");
    type(3, "never ");
    expect(stage.typed).toEqual(["first "]);
    expect(stage.of("pause")).toEqual([{ kind: "pause", client: 2 }]);
    stage.step({ kind: "written" });
    stage.step({ kind: "written" });
    stage.step({ kind: "written" });
    expect(stage.typed.map((typed) => typed.slice(0, 6))).toEqual(["first ", "xxxxxx", "second"]);
    expect(stage.of("resume")).toEqual([{ kind: "resume", client: 2 }]);
  });

  test("learn the end after the last output, also those who come after it", () => {
    const stage = new Stage();
    stage.join(1, { mode: "watch", framed: true });
    stage.shoot();
    stage.data(bytes("last"));
    stage.step({ kind: "exit", status: 130, signal: 2, nowMs: 0 });
    stage.join(2, attach);
    stage.shoot();
    for (const client of [1, 2]) stage.take(client);
    const exit = { type: "exit", status: 130, signal: 2 };
    expect(stage.frames(1)).toMatchObject([{ type: "snapshot" }, { type: "data" }, exit]);
    expect(stage.frames(2)).toMatchObject([{ type: "snapshot" }, exit]);
    expect(stage.of("finish").map(({ client }) => client)).toEqual([1, 2]);
  });

  test("are told of their mistakes and get their pings back", () => {
    const stage = new Stage();
    stage.join(1, attach);
    stage.shoot();
    stage.step({ kind: "ping", client: 1, bytes: bytes("hi"), nowMs: 0 });
    stage.step({ kind: "refuse", client: 1, code: "EINVAL", message: "no", nowMs: 0 });
    stage.step({ kind: "input", client: 1, bytes: bytes("late") });
    stage.take(1);
    expect(stage.frames(1)).toMatchObject([
      { type: "snapshot" },
      { type: "ping", data: bytes("hi") },
      { type: "error", code: "EINVAL", message: "no" },
    ]);
    expect(stage.typed).toEqual([]);
  });
});
