import { beforeEach, describe, expect, test } from "bun:test";
import type { TerminalPlan } from "../launch/mod.ts";
import type { Receipt } from "../receipt/mod.ts";
import { Terminal } from "./terminal.ts";
import type { TerminalParts } from "./terminal-parts.ts";
import type { Supervised, SupervisedReceipt, Supervisor } from "./types.ts";

const generation = "0123456789abcdef0123456789abcdef";

const fresh: Receipt = {
  ...{ kind: "terminal", id: "terminal-coder-main", agent: "coder", session: "main" },
  ...{ scope: "private", owner: 1, generation, supervisor: "systemd", ready: false },
  ...{ socket: "/run/s", control: "/nonexistent/control", folder: "/f", view: "v" },
  started_at: "2026-01-01T00:00:00.000Z",
};

/** A manager that answers a start when it is told to, and keeps what it was asked to end. */
class SlowSupervisor implements Supervisor {
  readonly name = "systemd";
  readonly answer = Promise.withResolvers<Supervised>();
  readonly ended: (string | undefined)[] = [];

  start(): Promise<Supervised> {
    return this.answer.promise;
  }

  async stop({ unit }: SupervisedReceipt): Promise<void> {
    this.ended.push(unit);
  }

  async alive(): Promise<boolean> {
    return false;
  }
}

let kept: Map<string, Receipt>;
let written: string[];
let told: unknown[];

function partsWith(supervisor: Supervisor): TerminalParts {
  const resource = {
    ...{ state: () => "ready", cwd: () => "/workspace", folder: "/f", setState() {} },
    ...{ setUnit: (unit: string) => written.push(unit) },
    ...{ lost: () => told.push("lost"), ended: (_at: string, end: unknown) => told.push(end) },
  };
  const parts = {
    receipts: {
      write: (receipt: Receipt) => kept.set(receipt.generation, receipt),
      remove: (receipt: Receipt) => kept.delete(receipt.generation),
    },
    ...{ resource, supervisor, service: undefined, now: () => new Date(0), log() {} },
    ...{ endpoint: { withdraw() {}, publish() {} }, isTaken: () => false, over() {} },
  };
  return parts as unknown as TerminalParts;
}

beforeEach(() => {
  kept = new Map();
  written = [];
  told = [];
});

const plan = {} as TerminalPlan;
const answer: Supervised = { unit: "cortexfs.service", invocation: "f".repeat(32) };

describe("a stop while the supervisor has not said yet what it started", () => {
  test("ends what comes up all the same, and no receipt of it stays", async () => {
    const supervisor = new SlowSupervisor();
    const terminal = new Terminal(fresh, partsWith(supervisor), plan);
    const launched = terminal.launched(supervisor.start());
    const stopped = terminal.stop();
    // The first try knows no unit; the answer comes after it.
    while (supervisor.ended.length === 0) await Promise.resolve();
    supervisor.answer.resolve(answer);
    await Promise.all([launched, stopped]);
    expect(supervisor.ended).toEqual([undefined, "cortexfs.service"]);
    expect(kept.size).toBe(0);
  });

  test("ends also when the start fails", async () => {
    const supervisor = new SlowSupervisor();
    const terminal = new Terminal(fresh, partsWith(supervisor), plan);
    const launched = terminal.launched(supervisor.start());
    const stopped = terminal.stop();
    supervisor.answer.reject(new Error("no answer in 15 s"));
    expect(launched).rejects.toThrow("no answer");
    await stopped;
    expect(kept.size).toBe(0);
  });
});

test("a supervisor that answers after the terminal's end writes no receipt and no file", async () => {
  const supervisor = new SlowSupervisor();
  const terminal = new Terminal(fresh, partsWith(supervisor), plan);
  const launched = terminal.launched(supervisor.start());
  await terminal.settle();
  supervisor.answer.resolve(answer);
  await launched;
  expect(kept.size).toBe(0);
  expect(written).toEqual([]);
});

describe("a terminal whose launch could not write down how it ended", () => {
  const own = { pid: process.pid, startTime: "1" };
  const ready = { ...fresh, launch: own, root: own, init: own, ready: true };

  test.each([
    [{ type: "ended", status: 129, signal: 1 } as const, { status: 129, signal: 1 }],
    [undefined, { status: 137, signal: 9 }],
  ])("is written down as the launch said, %j, also after a stop", async (said, ending) => {
    const terminal = new Terminal(ready, partsWith(new SlowSupervisor()));
    const listener = terminal.take("again", { stamp: own, say() {}, cut() {} });
    if (typeof listener === "string") throw new Error(listener);
    if (said !== undefined) listener.says(said);
    await terminal.stop();
    expect(told).toMatchObject([ending]);
  });
});

describe("a terminal whose program has ended", () => {
  test("takes no calls from then on, though its sandbox still stands", () => {
    const supervisor = new SlowSupervisor();
    const own = { pid: process.pid, startTime: "1" };
    const ready = { ...fresh, launch: own, root: own, init: own, ready: true };
    const terminal = new Terminal(ready, partsWith(supervisor));
    const peer = { stamp: own, say() {}, cut() {} };
    const listener = terminal.take("again", peer);
    if (typeof listener === "string") throw new Error(listener);
    listener.says({ type: "answers" });
    expect(terminal.forCalls()?.id).toBe(fresh.id);
    listener.says({ type: "ending" });
    expect(terminal.forCalls()).toBeUndefined();
    expect(terminal.isReady).toBe(false);
  });
});
