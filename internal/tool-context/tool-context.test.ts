import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { CodedError } from "../abi/mod.ts";
import {
  effectiveBounds,
  freshToolContext,
  isLoaded,
  load,
  pin,
  pinnedToolsMax,
  type ToolContext,
  type ToolContextBounds,
  touch,
  unload,
  unpin,
  within,
} from "./mod.ts";
import { counterMax, emptySketch, estimate, increment, sampleUses } from "./sketch.ts";
import { segmentsOf } from "./tracking.ts";

const usual: ToolContextBounds = { maxLoadedTools: 4, cacheCapacity: 8, windowPercent: 25 };

const name = fc.integer({ min: 0, max: 30 }).map((index) => `tool.${index}`);
const bounds = fc.record({
  maxLoadedTools: fc.integer({ min: 1, max: 12 }),
  cacheCapacity: fc.integer({ min: 1, max: 12 }),
  windowPercent: fc.integer({ min: 1, max: 100 }),
});
const verbs = ["load", "pin", "unpin", "unload", "touch"] as const;
const script = fc.array(fc.record({ verb: fc.constantFrom(...verbs), name, bounds }), {
  maxLength: 200,
});
type Step = { verb: (typeof verbs)[number]; name: string; bounds: ToolContextBounds };

/** A refusal leaves the state as it was. */
function play(state: ToolContext, step: Step): ToolContext {
  try {
    switch (step.verb) {
      case "load":
        return load(state, step.name, step.bounds).state;
      case "pin":
        return pin(state, step.name, step.bounds).state;
      case "unpin":
        return unpin(state, step.name, step.bounds).state;
      case "unload":
        return unload(state, step.name);
      case "touch":
        return touch(state, step.name, step.bounds);
    }
  } catch (error) {
    if (error instanceof CodedError) return state;
    throw error;
  }
}

const playAll = (steps: readonly Step[]) => steps.reduce(play, freshToolContext);

const loadAll = (names: readonly string[], limits = usual, from = freshToolContext) =>
  names.reduce((state, one) => load(state, one, limits).state, from);

const many = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}.${index}`);

function code(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof CodedError) return error.code;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("whatever is done", () => {
  test("no bound is exceeded and no tool is in two places", () => {
    fc.assert(
      fc.property(script, bounds, (steps, limits) => {
        // The bounds of the last word hold, also when they are lower than those before.
        const { pinned, loaded, tracking } = within(playAll(steps), limits).state;
        const room = segmentsOf(effectiveBounds(limits));
        const { window, probation, protected: kept } = tracking;
        expect(loaded.length).toBeLessThanOrEqual(limits.maxLoadedTools);
        expect(pinned.length).toBeLessThanOrEqual(pinnedToolsMax);
        expect(window.length).toBeLessThanOrEqual(room.window);
        expect(kept.length).toBeLessThanOrEqual(room.protected);
        expect(probation.length + kept.length).toBeLessThanOrEqual(room.main);
        const tracked = [...window, ...probation, ...kept];
        expect(tracked.length).toBeLessThanOrEqual(limits.cacheCapacity);
        expect(new Set([...pinned, ...loaded]).size).toBe(pinned.length + loaded.length);
        expect(new Set([...pinned, ...tracked]).size).toBe(pinned.length + tracked.length);
      }),
      { numRuns: 400 },
    );
  });

  test("a pinned tool stays until it is unpinned", () => {
    fc.assert(
      fc.property(script, script, name, (before, after, kept) => {
        const start = pin(playAll(before), kept, usual).state;
        const steps = after.filter((step) => step.verb !== "unpin" || step.name !== kept);
        expect(steps.reduce(play, start).pinned).toContain(kept);
      }),
      { numRuns: 200 },
    );
  });

  test("what was just loaded is loaded", () => {
    fc.assert(
      fc.property(script, name, bounds, (steps, one, limits) => {
        const { state, unloaded } = load(playAll(steps), one, limits);
        expect(isLoaded(state, one)).toBe(true);
        for (const gone of unloaded) expect(isLoaded(state, gone)).toBe(false);
      }),
    );
  });

  test("the same words give the same state", () => {
    fc.assert(fc.property(script, (steps) => expect(playAll(steps)).toEqual(playAll(steps))));
  });

  test("a state is never changed in place", () => {
    fc.assert(
      fc.property(script, script, (before, after) => {
        const state = playAll(before);
        const copy = structuredClone(state);
        after.reduce(play, state);
        expect(state).toEqual(copy);
      }),
    );
  });
});

describe("what makes room", () => {
  test("is said, and is one tool for one", () => {
    const { state, unloaded } = load(loadAll(many("a", 4)), "b", usual);
    expect(unloaded).toEqual(["a.0"]);
    expect(state.loaded).toEqual(["a.1", "a.2", "a.3", "b"]);
  });

  test("frequency beats recency: a tool that is used often outlives a scan of newer ones", () => {
    let state = loadAll(["hot", ...many("cold", 3)]);
    for (let uses = 0; uses < 6; uses += 1) state = touch(state, "hot", usual);
    state = loadAll(many("scan", 40), usual, state);
    expect(state.loaded).toContain("hot");
    expect(state.loaded).toHaveLength(4);
  });

  test("recency decides among tools that were used equally often", () => {
    const state = loadAll(many("a", 4));
    const used = many("a", 4).reduceRight((one, each) => touch(one, each, usual), state);
    expect(load(used, "b", usual).unloaded).toEqual(["a.3"]);
  });

  test("old uses age: what was used often once yields to what is used now", () => {
    const limits = { ...usual, maxLoadedTools: 2 };
    let state = loadAll(["once", "now"], limits);
    for (let uses = 0; uses < 12; uses += 1) state = touch(state, "once", limits);
    for (let uses = 0; uses < 400; uses += 1) {
      state = touch(state, "now", limits);
      // Others are used as well, which is what makes a sample come to its end.
      state = touch(state, `other.${uses % 3}`, limits);
    }
    expect(load(state, "new", limits).unloaded).toEqual(["once"]);
  });

  test("a lowered bound unloads at once, the least valuable first", () => {
    let state = loadAll(many("a", 4));
    state = touch(state, "a.0", usual);
    const changed = within(state, { ...usual, maxLoadedTools: 1 });
    expect(changed.unloaded).toEqual(["a.1", "a.2", "a.3"]);
    expect(changed.state.loaded).toEqual(["a.0"]);
  });

  test("pinned tools neither count nor make room", () => {
    const pinned = many("p", 10).reduce(
      (state, one) => pin(state, one, usual).state,
      freshToolContext,
    );
    const state = loadAll(many("a", 9), usual, pinned);
    expect(state.pinned).toEqual(many("p", 10));
    expect(state.loaded).toHaveLength(4);
  });

  test("a used tool is tracked and not loaded", () => {
    const state = touch(freshToolContext, "a", usual);
    expect(state.loaded).toEqual([]);
    expect(state.tracking.window).toEqual(["a"]);
  });
});

describe("refused are", () => {
  test("one pin too many, and the state stays", () => {
    const full = many("p", pinnedToolsMax).reduce(
      (state, one) => pin(state, one, usual).state,
      freshToolContext,
    );
    expect(code(() => pin(full, "more", usual))).toBe("EMSGSIZE");
    expect(pin(full, "p.0", usual).state.pinned).toHaveLength(pinnedToolsMax);
  });

  test("unload of a pinned or unknown tool, unpin of what is not pinned", () => {
    const { state } = pin(freshToolContext, "a", usual);
    expect(code(() => unload(state, "a"))).toBe("EINVAL");
    expect(code(() => unload(state, "b"))).toBe("EINVAL");
    expect(code(() => unpin(state, "b", usual))).toBe("EINVAL");
    expect(unpin(state, "a", usual).state.loaded).toEqual(["a"]);
  });
});

describe("the sketch", () => {
  test("never says less than was counted, up to its counters and its sample", () => {
    fc.assert(
      fc.property(fc.array(name, { maxLength: 60 }), (names) => {
        const sketch = names.reduce((one, each) => increment(one, each, 8), emptySketch);
        for (const each of new Set(names)) {
          const uses = names.filter((one) => one === each).length;
          expect(estimate(sketch, each)).toBeGreaterThanOrEqual(Math.min(uses, counterMax));
        }
      }),
    );
  });

  test("is halved when its sample is full", () => {
    let sketch = emptySketch;
    for (let uses = 0; uses < sampleUses(2) - 1; uses += 1) sketch = increment(sketch, "a", 2);
    expect(estimate(sketch, "a")).toBe(counterMax);
    sketch = increment(sketch, "a", 2);
    expect(estimate(sketch, "a")).toBe(counterMax >> 1);
    expect(sketch.additions).toBe(sampleUses(2) >> 1);
  });
});
