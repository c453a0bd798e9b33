import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ancestryDepthMax, judgeAncestry, type Stamp, type Step } from "./mod.ts";

/** A peer with `parents` parents: the peer has the highest pid and is the youngest. */
function chain(parents: number, change: Partial<Step> & { at?: number } = {}): Step[] {
  const { at, ...rest } = change;
  return Array.from({ length: parents + 1 }, (_, index): Step => {
    const pid = 1000 + parents - index;
    const step = { pid, parent: pid - 1, startTime: String(50_000 + pid), state: "S" };
    return index === at ? { ...step, ...rest } : step;
  });
}

const stampOf = ({ pid, startTime }: Step): Stamp => ({ pid, startTime });
const rootOf = (walk: readonly Step[]) => stampOf(walk.at(-1) as Step);
const why = (first: readonly Step[], second: readonly Step[], roots: readonly Stamp[]) => {
  const verdict = judgeAncestry(first, second, roots);
  return verdict.ok ? `ok at depth ${verdict.depth}` : verdict.why;
};

const depths = fc.integer({ min: 0, max: ancestryDepthMax });

describe("ancestry", () => {
  test("the root itself, its child and its descendants down to depth 64 belong to the run", () => {
    for (const depth of [0, 1, 2, 63, 64]) {
      const walk = chain(depth);
      expect(judgeAncestry(walk, walk, [rootOf(walk)])).toEqual({
        ok: true,
        root: rootOf(walk),
        depth,
      });
    }
    expect(why(chain(65), chain(65), [rootOf(chain(65))])).toBe("deep");
  });

  test("what is above the root decides nothing", () => {
    const walk = chain(10);
    const root = stampOf(walk[4] as Step);
    expect(why(walk, walk.slice(0, 5), [root])).toBe("ok at depth 4");
    const orphaned = walk.slice(0, 5).with(4, { ...(walk[4] as Step), parent: 1 });
    expect(why(walk, orphaned, [root])).toBe("ok at depth 4");
  });

  test("any one of several roots will do, and one that is not of this run does not", () => {
    const walk = chain(3);
    const others = [{ pid: 7, startTime: "7" }];
    expect(why(walk, walk, [...others, rootOf(walk)])).toBe("ok at depth 3");
    expect(why(chain(3, { at: 3, parent: 0 }), chain(3, { at: 3, parent: 0 }), others)).toBe(
      "left",
    );
    expect(why(walk, walk, [])).toBe("missing");
  });

  test("a daemon that became a child of the sandbox's first process belongs to the run", () => {
    const root = { pid: 500, parent: 400, startTime: "900", state: "S" };
    const init = { pid: 501, parent: 500, startTime: "901", state: "S" };
    const daemon = { pid: 620, parent: 501, startTime: "955", state: "S" };
    const walk = [daemon, init, root];
    expect(why(walk, walk, [stampOf(root)])).toBe("ok at depth 2");
  });

  test("a daemon that changes its parent between the walks is refused, and so is a half walk", () => {
    const root = { pid: 500, parent: 400, startTime: "900", state: "S" };
    const init = { pid: 501, parent: 500, startTime: "901", state: "S" };
    const shell = { pid: 510, parent: 501, startTime: "910", state: "S" };
    const child = { pid: 620, parent: 510, startTime: "955", state: "S" };
    const before = [child, shell, init, root];
    const after = [{ ...child, parent: 501 }, init, root];
    expect(why(before, after, [stampOf(root)])).toBe("changed");
    expect(why([child, init, root], [child, init, root], [stampOf(root)])).toBe("changed");
    expect(why(before, [child, shell], [stampOf(root)])).toBe("missing");
  });

  test("a pid that has another start time than the root is another process", () => {
    fc.assert(
      fc.property(depths, fc.integer({ min: 1, max: 40_000 }), (depth, earlier) => {
        const walk = chain(depth);
        const { pid, startTime } = rootOf(walk);
        const old = { pid, startTime: String(Number(startTime) - earlier) };
        expect(judgeAncestry(walk, walk, [old]).ok).toBe(false);
      }),
    );
  });

  test("a pid that was reused between the walks is refused wherever it is on the way", () => {
    fc.assert(
      fc.property(depths, depths, (depth, where) => {
        const walk = chain(depth);
        const at = where % walk.length;
        const step = walk[at] as Step;
        const later = walk.with(at, { ...step, startTime: String(Number(step.startTime) + 1) });
        expect(judgeAncestry(walk, later, [rootOf(walk)]).ok).toBe(false);
        expect(judgeAncestry(later, walk, [rootOf(walk)]).ok).toBe(false);
      }),
    );
  });

  test("an ancestor that is younger than its descendant took over a pid", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 64 }), fc.nat(), (depth, where) => {
        const at = 1 + (where % depth);
        const walk = chain(depth, { at, startTime: "99999999" });
        expect(why(walk, walk, [rootOf(walk)])).toBe("reused");
      }),
    );
    const large = chain(1, { at: 1, startTime: "9007199254740993" });
    const young = large.with(0, { ...(large[0] as Step), startTime: "9007199254740992" });
    expect(why(young, young, [rootOf(large)])).toBe("reused");
  });

  test("a loop is refused, short or long, also one that never meets itself in the list", () => {
    const self = [{ pid: 5, parent: 5, startTime: "5", state: "S" }];
    expect(why(self, self, [])).toBe("loop");
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.nat(), (depth, where) => {
        const walk = chain(depth, { at: depth, parent: 1000 + (where % (depth + 1)) });
        expect(why(walk, walk, [])).toBe("loop");
        const round = [...walk, ...walk];
        expect(why(round, round, [])).toBe("loop");
      }),
    );
  });

  test("a missing step is refused wherever it is", () => {
    expect(why([], [], [{ pid: 1, startTime: "1" }])).toBe("missing");
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 64 }), fc.nat(), (depth, where) => {
        const walk = chain(depth);
        const at = where % depth;
        const gap = walk.toSpliced(at, 1);
        expect(judgeAncestry(walk, gap, [rootOf(walk)]).ok).toBe(false);
        const cut = walk.slice(0, at + 1);
        expect(why(cut, cut, [rootOf(walk)])).toBe("missing");
      }),
    );
  });

  test("a step without state or start time, or of a process that has ended, is refused", () => {
    for (const [change, said] of [
      [{ state: "" }, "missing"],
      [{ startTime: "" }, "missing"],
      [{ startTime: "12x" }, "missing"],
      [{ state: "Z" }, "dead"],
      [{ state: "X" }, "dead"],
    ] as const) {
      for (const at of [0, 2, 4]) {
        const walk = chain(4, { at, ...change });
        expect([change, at, why(walk, walk, [rootOf(walk)])]).toEqual([change, at, said]);
      }
    }
  });

  test("whatever is read, a yes means two equal, linked, aging walks that end at a root", () => {
    const step = fc.record({
      pid: fc.integer({ min: 1, max: 6 }),
      parent: fc.integer({ min: 0, max: 6 }),
      startTime: fc.integer({ min: 1, max: 4 }).map(String),
      state: fc.constantFrom("S", "R", "S", "R", "Z", ""),
    });
    const walks = fc.array(step, { maxLength: 4 });
    let yes = 0;
    const property = fc.property(
      walks.chain((walk) => fc.tuple(fc.constant(walk), fc.oneof(fc.constant(walk), walks))),
      fc.array(fc.record({ pid: fc.integer({ min: 1, max: 6 }), startTime: fc.constant("1") })),
      ([first, second], roots) => {
        const verdict = judgeAncestry(first, second, roots);
        if (!verdict.ok) return;
        yes += 1;
        const way = first.slice(0, verdict.depth + 1);
        expect<readonly Stamp[]>(roots).toContainEqual(rootOf(way));
        expect(way.map(stampOf)).toEqual(second.slice(0, way.length).map(stampOf));
        expect(new Set(way.map(({ pid }) => pid)).size).toBe(way.length);
        for (const [index, { pid, startTime }] of way.slice(1).entries()) {
          const below = way[index] as Step;
          expect([below.parent, below.startTime >= startTime]).toEqual([pid, true]);
        }
        expect(way.every(({ state }) => "SR".includes(state) && state !== "")).toBe(true);
      },
    );
    fc.assert(property, { numRuns: 20_000 });
    expect(yes).toBeGreaterThan(200);
  });
});
