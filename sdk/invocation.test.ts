// What the author's helper takes for an invocation, against the goldens of the envelope and against the
// judge of the host.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { decodeInvocationLine, type Invocation } from "../internal/envelope/mod.ts";
import { readProtocol } from "../testdata/abi/folder.ts";
import { AgentError, decodeInvocation } from "./agent.ts";

const folder = readProtocol("sdk-envelope/v1");
const bytesOf = (text: string) => new TextEncoder().encode(text);

/** The code of the refusal, or undefined when it is accepted. */
function refusalOf(bytes: Uint8Array): string | undefined {
  try {
    decodeInvocation(bytes);
    return undefined;
  } catch (error) {
    if (error instanceof AgentError) return error.code;
    throw error;
  }
}

describe("decodeInvocation", () => {
  test("takes every golden invocation and gives what is in it", () => {
    const good = [...folder.accept, ...folder.acceptAlso].filter(([name]) =>
      name.startsWith("invocation"),
    );
    expect(good.length).toBeGreaterThanOrEqual(8);
    for (const [name, text] of good) {
      const decoded: Invocation = decodeInvocation(bytesOf(text));
      const expected = decodeInvocationLine(text.slice(0, -1));
      expect([name, { ok: true, invocation: decoded }]).toEqual([name, expected as never]);
    }
  });

  test("refuses every golden that must be refused, with its code, and every frame", () => {
    expect(folder.reject.length).toBeGreaterThanOrEqual(100);
    for (const { name, bytes, code } of folder.reject) {
      const line = new Uint8Array([...bytes, 0x0a]);
      expect([name, refusalOf(line)]).toEqual([name, code]);
    }
    const frames = [...folder.accept].filter(([name]) => !name.startsWith("invocation"));
    expect(frames.length).toBeGreaterThan(5);
    for (const [name, text] of frames) {
      expect([name, refusalOf(bytesOf(text))]).toEqual([name, "EINVAL"]);
    }
  });

  test("refuses an invocation with anything before, behind or missing", () => {
    const text = folder.accept.get("invocation") as string;
    expect(refusalOf(bytesOf(text))).toBeUndefined();
    for (const wrong of [text.slice(0, -1), `${text}\n`, `${text}${text}`, `\n${text}`, "", "\n"]) {
      expect([wrong, refusalOf(bytesOf(wrong))]).toEqual([wrong, "EINVAL"]);
    }
    expect(refusalOf(bytesOf(`${text.slice(0, -1)} \n`))).toBe("EINVAL");
  });

  test("says the same as the host of any change of a member", () => {
    const seeds = [...folder.accept]
      .filter(([name, text]) => name.startsWith("invocation") && text.length < 2048)
      .map(([, text]) => JSON.parse(text) as Record<string, unknown>);
    const odd = fc.oneof(
      fc.constantFrom<unknown>(...[null, true, 0, 8, 9, -1, 1.5, "", "\0", "a/b", "ok", {}, []]),
      fc.constantFrom<unknown>("x".repeat(257), "ä".repeat(129), "x".repeat(16_385), "\ud800"),
      fc.constantFrom<unknown>("x".repeat(65_537), "x".repeat(524_289), "a.sock", undefined),
      fc.jsonValue({ maxDepth: 2 }),
    );
    const names = [...Object.keys(seeds[0] as object), "token", "__proto__"];
    const inner = ["tool_call_id", "name", "status", "content", "truncated", "more"];
    const counts = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(
        fc.constantFrom(...seeds),
        fc.constantFrom(...names, ...inner),
        odd,
        (seed, name, value) => {
          const changed = structuredClone(seed);
          const observation = changed["observation"] as Record<string, unknown> | null;
          const target = inner.includes(name) && observation !== null ? observation : changed;
          Object.defineProperty(target, name, { value, enumerable: true });
          const line = JSON.stringify(changed);
          const host = decodeInvocationLine(line);
          expect([line, refusalOf(bytesOf(`${line}\n`))]).toEqual([
            line,
            host.ok ? undefined : host.code,
          ]);
          counts[host.ok ? "accepted" : "refused"] += 1;
        },
      ),
      { numRuns: 2000 },
    );
    expect(Math.min(counts.accepted, counts.refused)).toBeGreaterThan(50);
  });
});
