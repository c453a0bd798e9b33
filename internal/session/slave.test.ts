import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { sessionQueueLengthMax } from "../abi/mod.ts";
import {
  activeRun,
  idleSlave,
  type Slave,
  type SlaveEffect,
  type SlaveEvent,
  step,
  waitingRuns,
} from "./slave.ts";

/** Drives the machine as the service does: every effect is answered, in any order and outcome. */
class Driver {
  slave: Slave = idleSlave;
  readonly finished = new Map<string, { run: string; digest: string; done: number }>();
  readonly live = new Map<string, { request: string; digest: string }>();
  readonly executed = new Map<string, number>();
  readonly executing = new Set<string>();
  readonly pending: SlaveEvent[] = [];
  readonly doneOf = new Map<string, number>();
  rejected: string[] = [];
  runs = 0;

  apply(event: SlaveEvent): readonly SlaveEffect[] {
    const { next, effects } = step(this.slave, event);
    this.slave = next;
    for (const effect of effects) this.#perform(effect);
    this.check();
    return effects;
  }

  send(request: string, digest: string): readonly SlaveEffect[] {
    const run = `run-${++this.runs}`;
    const known = this.finished.get(request);
    this.live.set(run, { request, digest });
    return this.apply({ kind: "send", run, request, digest, known });
  }

  /** Answers one thing that is in flight; `fails` says how. */
  answer(index: number, fails: boolean): void {
    const [event] = this.pending.splice(index % Math.max(this.pending.length, 1), 1);
    if (event === undefined) return;
    if (event.kind === "accepted" && fails) {
      this.apply({ kind: "refused", run: event.run });
    } else if (event.kind === "started" && fails) {
      this.apply({ kind: "start_failed", run: event.run, code: "ENOSPC" });
    } else {
      if (event.kind === "accepted") this.doneOf.set(event.run, 0);
      if (event.kind === "ended") this.#end(event.run);
      if (event.kind === "returned") this.executing.delete(event.run);
      this.apply(event);
    }
  }

  check(): void {
    const holders = this.slave.runs.filter((one) => one.holds);
    expect(holders.length).toBeLessThanOrEqual(1);
    expect(this.executing.size).toBeLessThanOrEqual(1);
    expect(waitingRuns(this.slave).length).toBeLessThanOrEqual(sessionQueueLengthMax);
    for (const count of this.doneOf.values()) expect(count).toBeLessThanOrEqual(1);
    for (const count of this.executed.values()) expect(count).toBe(1);
    expect(new Set(this.slave.runs.map((one) => one.request)).size).toBe(this.slave.runs.length);
  }

  #end(run: string): void {
    const facts = this.live.get(run);
    this.doneOf.set(run, (this.doneOf.get(run) ?? 0) + 1);
    if (facts !== undefined)
      this.finished.set(facts.request, { run, digest: facts.digest, done: 1 });
  }

  #perform(effect: SlaveEffect): void {
    switch (effect.kind) {
      case "accept":
        this.pending.push({ kind: "accepted", run: effect.run });
        break;
      case "start":
        this.pending.push({ kind: "started", run: effect.run });
        break;
      case "execute":
        this.executed.set(effect.run, (this.executed.get(effect.run) ?? 0) + 1);
        this.executing.add(effect.run);
        this.pending.push({ kind: "returned", run: effect.run, outcome: { status: "ok" } });
        break;
      case "finish":
        this.pending.push({ kind: "ended", run: effect.run });
        break;
      case "reject":
        this.rejected.push(effect.code);
        break;
      default:
    }
  }
}

describe("any sequence of sends, cancels, failures and answers in any order", () => {
  const action = fc.oneof(
    { weight: 9, arbitrary: fc.record({ do: fc.constant("send" as const), id: fc.nat(99) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("cancel" as const), id: fc.nat(60) }) },
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constant("answer" as const),
        id: fc.nat(20),
        fails: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
      }),
    },
  );

  test("runs one at a time, queues at most 16, and ends each accepted input exactly once", () => {
    let busy = 0;
    let ended = 0;
    fc.assert(
      fc.property(fc.array(action, { minLength: 1, maxLength: 150, size: "max" }), (actions) => {
        const driver = new Driver();
        for (const one of actions) {
          if (one.do === "send") driver.send(`request-${one.id}`, "digest");
          if (one.do === "cancel") driver.apply({ kind: "cancel", run: `run-${one.id}` });
          if (one.do === "answer") driver.answer(one.id, one.fails);
        }
        while (driver.pending.length > 0) driver.answer(0, false);
        expect(driver.slave.runs).toEqual([]);
        for (const count of driver.doneOf.values()) expect(count).toBe(1);
        busy += driver.rejected.filter((code) => code === "busy").length;
        ended += driver.doneOf.size;
      }),
      { numRuns: 150 },
    );
    // The claim is about something: queues filled up and runs ended.
    expect(busy).toBeGreaterThan(0);
    expect(ended).toBeGreaterThan(500);
  }, 60_000);

  test("ends everything as interrupted after a close and admits nothing more", () => {
    fc.assert(
      fc.property(fc.array(action, { minLength: 1, maxLength: 80 }), (actions) => {
        const driver = new Driver();
        for (const one of actions) {
          if (one.do === "send") driver.send(`request-${one.id}`, "digest");
          if (one.do === "cancel") driver.apply({ kind: "cancel", run: `run-${one.id}` });
          if (one.do === "answer") driver.answer(one.id, one.fails);
        }
        const begun = driver.executed.size;
        driver.apply({ kind: "close" });
        expect(driver.send("late", "digest")).toEqual([{ kind: "reject", code: "EHOSTDOWN" }]);
        while (driver.pending.length > 0) driver.answer(0, false);
        expect(driver.executed.size).toBe(begun);
        expect(driver.slave.runs).toEqual([]);
        for (const count of driver.doneOf.values()) expect(count).toBe(1);
      }),
    );
  });
});

describe("the machine", () => {
  test("answers the seventeenth waiting input with busy and remembers nothing of it", () => {
    const driver = new Driver();
    for (let index = 0; index <= sessionQueueLengthMax; index++) driver.send(`r-${index}`, "d");
    const before = driver.slave;
    expect(driver.send("one more", "d")).toEqual([{ kind: "reject", code: "busy" }]);
    expect(driver.slave).toBe(before);
  });

  test("replays a live request with the same digest and refuses another digest", () => {
    const driver = new Driver();
    driver.send("r", "d");
    expect(driver.send("r", "d")).toEqual([{ kind: "replay", run: "run-1" }]);
    expect(driver.send("r", "other")).toEqual([{ kind: "reject", code: "request_conflict" }]);
  });

  test("replays a finished request also when it is closing", () => {
    const driver = new Driver();
    driver.send("r", "d");
    while (driver.pending.length > 0) driver.answer(0, false);
    driver.apply({ kind: "close" });
    expect(driver.send("r", "d")).toEqual([{ kind: "replay", run: "run-1" }]);
  });

  test("closes a cancelled run at once and starts the next only when its executor is back", () => {
    const driver = new Driver();
    driver.send("first", "d");
    driver.send("second", "d");
    driver.answer(0, false);
    driver.answer(0, false);
    const effects = driver.apply({ kind: "cancel", run: "run-1" });
    expect(effects.map((one) => one.kind)).toEqual(["abort", "finish"]);
    driver.apply({ kind: "ended", run: "run-1" });
    expect(activeRun(driver.slave)).toBeUndefined();
    expect(driver.executed.has("run-2")).toBe(false);
    driver.apply({ kind: "returned", run: "run-1", outcome: { status: "ok" } });
    expect(driver.slave.runs.map((one) => [one.run, one.stage])).toEqual([["run-2", "starting"]]);
  });

  test("never executes an input that was cancelled before its acceptance was durable", () => {
    const driver = new Driver();
    driver.send("r", "d");
    driver.apply({ kind: "cancel", run: "run-1" });
    while (driver.pending.length > 0) driver.answer(0, false);
    expect(driver.executed.size).toBe(0);
    expect(driver.doneOf).toEqual(new Map([["run-1", 1]]));
  });

  test("drops all but working executors when the log fails", () => {
    const driver = new Driver();
    driver.send("first", "d");
    driver.send("second", "d");
    driver.answer(0, false);
    const effects = driver.apply({ kind: "failed", code: "EIO" });
    expect(effects).toEqual([{ kind: "abort", run: "run-1" }]);
    expect(driver.send("third", "d")).toEqual([{ kind: "reject", code: "EIO" }]);
    driver.apply({ kind: "returned", run: "run-1", outcome: { status: "ok" } });
    expect(driver.slave.runs).toEqual([]);
  });
});
