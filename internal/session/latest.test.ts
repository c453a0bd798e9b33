import { expect, test } from "bun:test";
import { frameTextUnitsMax } from "../abi/mod.ts";
import { SessionFacts } from "./facts.ts";
import { pieces } from "./observation.ts";

test("latest is the whole newest answer, however many messages it is kept in", () => {
  const facts = new SessionFacts();
  const say = (run: string, text: string, seq: number) => {
    const common = { seq, ts: "2026-01-01T00:00:00.000Z", run };
    facts.add({
      event: { ...common, type: "message", agent: "a", session: "s", role: "assistant" },
      message: {
        ...common,
        id: `msg-${seq}`,
        role: "assistant",
        content: [{ type: "text", text }],
      },
    });
  };
  const long = "x".repeat(2 * frameTextUnitsMax + 7);
  for (const [at, part] of pieces(long, frameTextUnitsMax).entries()) say("run-1", part, at + 1);
  expect(facts.latest).toBe(long);
  say("run-2", "short", 9);
  expect(facts.latest).toBe("short");
});
