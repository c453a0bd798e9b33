import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ShellLine } from "../capability/mod.ts";
import { callsWaitingMax, shellAbsentMsMax, stopMsMax } from "./bounds.ts";
import {
  type Calls,
  type Effect,
  type Ending,
  type MachineEvent,
  newCalls,
  step,
} from "./machine.ts";

const begin = (id: string): MachineEvent => ({ type: "line", line: { type: "begin", id } });
const end = (
  id: string,
  rest: Partial<Extract<ShellLine, { type: "end" }>> = {},
): MachineEvent => ({
  type: "line",
  line: { type: "end", id, exit: 0, ...rest },
});
const output = (id: string): MachineEvent => ({
  type: "line",
  line: { type: "output", id, stream: "stdout", data: "" },
});
const ask = (id: string): MachineEvent => ({ type: "ask", id, timeoutMs: 1000 });
const serves: MachineEvent = { type: "serves" };

/** The effects of the last event after all the others. */
function last(...events: readonly MachineEvent[]): readonly Effect[] {
  let state = newCalls().next;
  let effects: readonly Effect[] = [];
  for (const event of events) ({ next: state, effects } = step(state, event));
  return effects;
}

const settled = (id: string, ending: Ending): Effect => ({ type: "settle", id, ending });

describe("a call", () => {
  test("is said to the shell when its turn comes, and its time of running begins with it", () => {
    const wait = { type: "arm", id: "a", kind: "wait", ms: 1000 };
    expect(last(serves, ask("a"))).toEqual([wait, { type: "push", id: "a" }] as Effect[]);
    expect(last(serves, ask("a"), begin("a"))).toEqual([
      { type: "arm", id: "a", kind: "run", ms: 1000 },
    ]);
    expect(last(serves, ask("a"), ask("b"))).toEqual([{ ...wait, id: "b" }] as Effect[]);
    expect(last(serves, ask("a"), ask("b"), begin("a"), end("a", { exit: 7 }))).toEqual([
      settled("a", { kind: "exit", status: 7 }),
      { type: "push", id: "b" },
    ]);
  });

  test("ends as its program did", () => {
    const run = [serves, ask("a"), begin("a")];
    expect(last(...run, end("a", { exit: null, signal: 9 }))).toEqual([
      settled("a", { kind: "exit", status: 137 }),
    ]);
    expect(last(...run, end("a", { exit: null, stopped: "cancelled" }))).toEqual([
      settled("a", { kind: "stopped", by: "person", began: true }),
    ]);
    expect(last(...run, end("a", { exit: null, message: "no such file" }))).toEqual([
      settled("a", { kind: "unstarted", message: "no such file" }),
    ]);
  });

  test("can be cancelled while it waits, when it was said, and while it runs", () => {
    const unwanted: MachineEvent = { type: "unwanted", id: "a" };
    expect(last(ask("a"), unwanted)).toEqual([
      settled("a", { kind: "stopped", by: "run", began: false }),
    ]);
    const told = [
      { type: "cancel", id: "a", reason: "cancelled" },
      { type: "arm", id: "a", kind: "stop", ms: stopMsMax },
    ] as Effect[];
    expect(last(serves, ask("a"), unwanted)).toEqual(told);
    expect(last(serves, ask("a"), begin("a"), unwanted)).toEqual(told);
    for (const began of [true, false]) {
      const way = began ? [begin("a")] : [];
      const how = { exit: null, signal: 15 };
      expect(last(serves, ask("a"), ...way, unwanted, end("a", how))).toEqual([
        settled("a", { kind: "stopped", by: "run", began }),
      ]);
    }
  });

  test("that was told to end and does not is lost with its shell", () => {
    const stop: MachineEvent = { type: "timer", id: "a", kind: "stop" };
    expect(last(serves, ask("a"), { type: "unwanted", id: "a" }, stop)).toEqual([
      { type: "cut", because: "it did not end a call that it was told to end" },
      settled("a", { kind: "lost", began: false }),
      { type: "arm-absent", ms: shellAbsentMsMax },
    ]);
  });

  test("behind a program in the foreground ends with its time, and so does one that runs on", () => {
    const wait: MachineEvent = { type: "timer", id: "a", kind: "wait" };
    const stop = end("a", { exit: null, stopped: "timeout" });
    expect(last(serves, ask("a"), wait, stop)).toEqual([
      settled("a", { kind: "stopped", by: "clock", began: false }),
    ]);
    expect(last(serves, ask("a"), begin("a"), { ...wait, kind: "run" }, stop)).toEqual([
      settled("a", { kind: "stopped", by: "clock", began: true }),
    ]);
  });

  test("is lost with a shell that had it, and waits for the next one if none did", () => {
    expect(last(serves, ask("a"), ask("b"), begin("a"), { type: "left" })).toEqual([
      settled("a", { kind: "lost", began: true }),
      { type: "arm-absent", ms: shellAbsentMsMax },
    ]);
    expect(last(serves, ask("a"), ask("b"), begin("a"), { type: "left" }, serves)).toEqual([
      { type: "disarm-absent" },
      { type: "push", id: "b" },
    ]);
  });

  test("without a shell is for a sandbox of its own, at once when none is expected", () => {
    expect(last(ask("a"), { type: "absent" })).toEqual([settled("a", { kind: "absent" })]);
    expect(last({ type: "absent" }, ask("a"))).toEqual([settled("a", { kind: "absent" })]);
    expect(last({ type: "absent" }, serves, ask("a"))).toContainEqual({ type: "push", id: "a" });
    expect(last({ type: "over" }, serves, ask("a"))).toEqual([settled("a", { kind: "absent" })]);
  });

  test("past the bound of those that wait is refused", () => {
    const many = Array.from({ length: callsWaitingMax + 1 }, (_, at) => ask(`${at}`));
    expect(last(serves, ...many, ask("a"))).toEqual([settled("a", { kind: "busy" })]);
  });
});

test("a shell that breaks the rules is cut off and what it had is lost", () => {
  const lost = (began: boolean) => settled("a", { kind: "lost", began });
  for (const [events, began] of [
    [[end("a")], false],
    [[output("a")], false],
    [[begin("b")], false],
    [[begin("a"), begin("a")], true],
    [[begin("a"), output("b")], true],
    [[begin("a"), end("a", { exit: null })], true],
  ] as const) {
    const effects = last(serves, ask("a"), ask("b"), ...events);
    expect(effects.map(({ type }) => type)).toEqual(["cut", "settle", "arm-absent"]);
    expect(effects[1]).toEqual(lost(began));
  }
  expect(last(serves, begin("a")).map(({ type }) => type)).toEqual(["cut", "arm-absent"]);
});

const ids = fc.constantFrom("a", "b");
const events: fc.Arbitrary<MachineEvent> = fc.oneof(
  { weight: 3, arbitrary: ids.map(ask) },
  { weight: 3, arbitrary: fc.constant(serves) },
  fc.constantFrom<MachineEvent>({ type: "left" }, { type: "absent" }),
  { weight: 4, arbitrary: ids.map(begin) },
  ids.map(output),
  fc
    .tuple(ids, fc.constantFrom({}, { exit: null }, { exit: null, signal: 9 }, { exit: 3 }))
    .map(([id, how]) => end(id, how)),
  ids.map((id): MachineEvent => ({ type: "unwanted", id })),
  fc
    .tuple(ids, fc.constantFrom("wait" as const, "run" as const, "stop" as const))
    .map(([id, kind]): MachineEvent => ({ type: "timer", id, kind })),
);

/** Plays events as the outside would: an id is new, and a timer that is not armed does not ring. */
class Play {
  state: Calls = newCalls().next;
  readonly asked: string[] = [];
  readonly ends = new Map<string, number>();
  readonly pushed: string[] = [];
  readonly armed = new Map<string, string>();
  absent = true;
  open: string | undefined;

  do(event: MachineEvent): void {
    if (event.type === "timer" && this.armed.get(event.id) !== event.kind) return;
    if (event.type === "absent" && !this.absent) return;
    if (event.type === "absent") this.absent = false;
    if (event.type === "ask") this.asked.push(event.id);
    const { next, effects } = step(this.state, event);
    this.state = next;
    for (const effect of effects) this.#take(effect);
    if (next.shell !== "serves") this.open = undefined;
  }

  #take(effect: Effect): void {
    switch (effect.type) {
      case "push":
        expect(this.open).toBeUndefined();
        expect(this.ends.has(effect.id)).toBe(false);
        this.open = effect.id;
        this.pushed.push(effect.id);
        break;
      case "cancel":
        expect(effect.id).toBe(this.open as string);
        break;
      case "output":
        expect(effect.line.id).toBe(this.open as string);
        break;
      case "settle":
        this.ends.set(effect.id, (this.ends.get(effect.id) ?? 0) + 1);
        this.armed.delete(effect.id);
        if (this.open === effect.id) this.open = undefined;
        break;
      case "arm":
        expect(this.ends.has(effect.id)).toBe(false);
        this.armed.set(effect.id, effect.kind);
        break;
      case "arm-absent":
        this.absent = true;
        break;
      case "disarm-absent":
        this.absent = false;
    }
  }
}

test("whatever happens, each call is settled once, one at a time is with the shell, none waits for good", () => {
  const count = { pushes: 0 };
  fc.assert(
    fc.property(fc.array(events, { minLength: 10, maxLength: 60 }), (sequence) => {
      const play = new Play();
      let serial = 0;
      // Names become fresh ids: what is said of a name is said of its newest call.
      const newest = new Map<string, string>();
      const idOf = (name: string) => newest.get(name) ?? name;
      for (const event of sequence) {
        if (event.type === "ask") {
          serial += 1;
          newest.set(event.id, `${event.id}${serial}`);
        }
        if (event.type === "line") {
          play.do({ type: "line", line: { ...event.line, id: idOf(event.line.id) } });
        } else if ("id" in event) play.do({ ...event, id: idOf(event.id) });
        else play.do(event);
        const waits = play.asked.filter((id) => !play.ends.has(id));
        expect(play.state.calls.map(({ id }) => id)).toEqual(waits);
        // Everything that waits has a clock of its own.
        expect(waits.filter((id) => !play.armed.has(id))).toEqual([]);
      }
      count.pushes += play.pushed.length;
      play.do({ type: "over" });
      expect([...play.ends.values()].filter((times) => times !== 1)).toEqual([]);
      expect(play.ends.size).toBe(play.asked.length);
    }),
    { numRuns: process.env["CTX_LONG"] === "1" ? 50_000 : 3000 },
  );
  expect(count.pushes).toBeGreaterThan(1000);
});
