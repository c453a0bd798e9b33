import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  type ApprovalAnswer,
  type ApprovalEffect,
  type ApprovalEvent,
  type Approvals,
  noApprovals,
  rememberedAnswersMax,
  stepApprovals,
} from "./approval.ts";

const run = "ctx-1";
const allow = (call: string, change: Partial<ApprovalAnswer> = {}): ApprovalEvent => ({
  kind: "answer",
  answer: { run, call, decision: "allow_once", ...change },
});

function play(...events: readonly ApprovalEvent[]): {
  state: Approvals;
  effects: readonly ApprovalEffect[];
} {
  let state = noApprovals(run);
  const effects: ApprovalEffect[] = [];
  for (const event of events) {
    const step = stepApprovals(state, event);
    state = step.next;
    effects.push(...step.effects);
  }
  return { state, effects };
}

const shown = (call: string): ApprovalEvent[] => [
  { kind: "ask", call, digest: `d-${call}` },
  { kind: "shown", call },
];

describe("stepApprovals()", () => {
  test("allows exactly the call that was shown, once for a hundred answers", () => {
    const answers = Array.from({ length: 100 }, () => allow("c1", { digest: "d-c1" }));
    const { effects } = play(...shown("c1"), ...answers);
    expect(effects).toEqual([{ kind: "decide", call: "c1", decision: { kind: "allowed" } }]);
  });

  test("an answer that came twice leaves the next call alone", () => {
    const { state, effects } = play(...shown("c1"), allow("c1"), ...shown("c2"), allow("c1"));
    expect(state.waiting?.call).toBe("c2");
    expect(effects).toHaveLength(1);
  });

  test("another answer to a call that was decided denies the one that waits", () => {
    const { effects } = play(
      ...shown("c1"),
      allow("c1"),
      ...shown("c2"),
      allow("c1", { decision: "deny" }),
    );
    expect(effects.slice(1).map((one) => one.kind)).toEqual(["decide", "refuse"]);
    expect(effects[1]).toMatchObject({ call: "c2", decision: { kind: "denied", by: "fault" } });
  });

  test("an answer before the request was shown denies", () => {
    const { effects } = play({ kind: "ask", call: "c1", digest: "d" }, allow("c1"));
    expect(effects[0]).toMatchObject({ decision: { kind: "denied", by: "fault" } });
  });

  test("nothing is asked of an origin that is lost or of a run that is over", () => {
    for (const kind of ["origin_lost", "cancelled"] as const) {
      const { effects } = play({ kind }, { kind: "ask", call: "c1", digest: "d" });
      expect(effects).toEqual([{ kind: "decide", call: "c1", decision: { kind } }]);
    }
  });

  test("a second call beside one that waits is denied and the first one waits on", () => {
    const { state, effects } = play(...shown("c1"), ...shown("c2"));
    expect(effects).toMatchObject([{ kind: "decide", call: "c2", decision: { kind: "denied" } }]);
    expect(state.waiting?.call).toBe("c1");
  });

  test("answers are remembered within their bound", () => {
    const calls = Array.from({ length: rememberedAnswersMax + 5 }, (_, index) => `c${index}`);
    const { state } = play(...calls.flatMap((call) => [...shown(call), allow(call)]));
    expect(state.answers).toHaveLength(rememberedAnswersMax);
    expect(state.answers.at(-1)?.call).toBe(calls.at(-1) as string);
  });
});

/** What happens next, in relation to the call that waits; it becomes an event as the state is then. */
const happening = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom("ask" as const, "show" as const) },
  {
    weight: 20,
    arbitrary: fc.record({
      run: fc.constantFrom(run, run, run, "ctx-2"),
      back: fc.constantFrom(0, 0, 0, 1, 2),
      decision: fc.constantFrom("allow_once" as const, "deny" as const),
      digest: fc.constantFrom(undefined, "own" as const, "own" as const, "other" as const),
      reason: fc.constantFrom(undefined, "no"),
    }),
  },
  { weight: 5, arbitrary: fc.constantFrom("timeout" as const, "malformed" as const) },
  { weight: 1, arbitrary: fc.constantFrom("origin_lost" as const, "cancelled" as const) },
);

type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never;

function eventOf(one: Happening, asked: number, waiting: string | undefined): ApprovalEvent {
  const current = Number(waiting?.slice(1) ?? asked);
  const call = `c${current}`;
  if (one === "ask") return { kind: "ask", call: `c${asked + 1}`, digest: `d-c${asked + 1}` };
  if (one === "show") return { kind: "shown", call };
  if (one === "timeout") return { kind: "timeout", call };
  if (one === "malformed") return { kind: "malformed", reason: "no JSON" };
  if (typeof one === "string") return { kind: one };
  const { back, digest, reason, ...rest } = one;
  const about = `c${current - back}`;
  const said = digest === undefined ? undefined : digest === "own" ? `d-${about}` : "d-other";
  return { kind: "answer", answer: { ...rest, call: about, digest: said, reason } };
}

test("whatever comes, each question is decided once, and allowed only by its own answer", () => {
  let allowed = 0;
  const check = (happenings: readonly Happening[]) => {
    let state = noApprovals(run);
    let asked = 0;
    let decided = 0;
    let over = false;
    for (const one of happenings) {
      const event = eventOf(one, asked, state.waiting?.call);
      const before = state;
      const { next, effects } = stepApprovals(before, event);
      state = next;
      if (event.kind === "ask") asked += 1;
      over ||= event.kind === "origin_lost" || event.kind === "cancelled";
      for (const effect of effects) {
        if (effect.kind !== "decide") continue;
        decided += 1;
        if (event.kind !== "ask") expect(effect.call).toBe(before.waiting?.call as string);
        if (effect.decision.kind !== "allowed") continue;
        allowed += 1;
        expect([over, before.waiting?.shown]).toEqual([false, true]);
        const answer = { run, call: effect.call, decision: "allow_once" } as const;
        expect(event).toMatchObject({ kind: "answer", answer });
        const { digest } = (event as { answer: ApprovalAnswer }).answer;
        expect(["undefined", before.waiting?.digest]).toContain(`${digest}`);
      }
      expect(decided + (state.waiting === undefined ? 0 : 1)).toBe(asked);
      if (over) expect(state.waiting).toBeUndefined();
    }
  };
  const property = fc.property(fc.array(happening, { minLength: 20, maxLength: 60 }), check);
  fc.assert(property, { numRuns: 1000 });
  expect(allowed).toBeGreaterThan(100);
});
