import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { abiFolder } from "../../testdata/abi/folder.ts";
import { EnvelopeRun, type Invocation, judgeEnvelope, type StepOutcome } from "./mod.ts";

interface Header {
  readonly talk: string;
  readonly abi: string;
  readonly about: string;
  readonly max_calls?: number;
}

interface Expected {
  readonly kind: StepOutcome["kind"];
  readonly code?: string;
  readonly id?: string;
  readonly name?: string;
  readonly text?: string;
}

type Step =
  | { readonly stdin: Invocation; readonly code?: string }
  | { readonly stdout_line: string }
  | { readonly stdout_bytes: string }
  | {
      readonly stdout_repeat: {
        readonly before: string;
        readonly unit: string;
        readonly times: number;
        readonly after: string;
      };
    }
  | { readonly exit: number | null }
  | { readonly outcome: Expected };

const folder = join(abiFolder, "sdk-envelope/v1/talk");

function readTalk(file: string): { header: Header; steps: Step[] } {
  const text = readFileSync(join(folder, file), "utf8");
  const [header, ...steps] = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  return { header, steps };
}

const encoder = new TextEncoder();

function bytesOf(step: Step): Uint8Array | undefined {
  if ("stdout_line" in step) return encoder.encode(`${step.stdout_line}\n`);
  if ("stdout_bytes" in step) return Uint8Array.fromBase64(step.stdout_bytes);
  if (!("stdout_repeat" in step)) return undefined;
  const { before, unit, times, after } = step.stdout_repeat;
  return encoder.encode(`${before}${unit.repeat(times)}${after}\n`);
}

/** What of an outcome a talk may name; a message's text is compared only when it does. */
function shown(outcome: StepOutcome, expected: Expected): Expected {
  const { kind } = outcome;
  if (kind === "error") return { kind, code: outcome.code };
  const text = expected.text === undefined ? {} : { text: outcome.text };
  if (kind === "message") return { kind, ...text };
  return { kind, id: outcome.call.id, name: outcome.call.name, ...text };
}

/** Plays a talk whose output comes in pieces of at most `piece` bytes. Gives back the outcomes. */
function expectPlayed({ header, steps }: ReturnType<typeof readTalk>, piece: number): number {
  const run = new EnvelopeRun("run-1", header.max_calls);
  let reader: ReturnType<EnvelopeRun["begin"]> | undefined;
  let status: number | undefined = 0;
  let outcomes = 0;
  for (const step of steps) {
    const bytes = bytesOf(step);
    for (let at = 0; bytes !== undefined && at < bytes.length; at += piece) {
      reader?.push(bytes.subarray(at, at + piece));
    }
    if ("exit" in step) status = step.exit ?? undefined;
    if ("stdin" in step) {
      const judged = judgeEnvelope(JSON.stringify(step.stdin));
      expect(judged).toEqual({ ok: true, kind: "invocation" });
      if (step.code === undefined) reader = run.begin(step.stdin);
      else
        expect(() => run.begin(step.stdin)).toThrow(expect.objectContaining({ code: step.code }));
    }
    if ("outcome" in step) {
      expect(shown(run.end({ status }), step.outcome)).toEqual(step.outcome);
      status = 0;
      outcomes += 1;
    }
  }
  return outcomes;
}

const files = readdirSync(folder).sort();

describe("abi/sdk-envelope/v1/talk", () => {
  test("holds its talks", () => {
    expect(files.length).toBeGreaterThanOrEqual(40);
  });

  for (const file of files) {
    const talk = readTalk(file);
    test(`${file}: ${talk.header.about}`, () => {
      const named = `sdk-envelope/${file.replace(/\.jsonl$/, "")}`;
      expect(talk.header).toMatchObject({ talk: named, abi: "sdk-envelope/v1" });
      const outcomes = talk.steps.filter((step) => "outcome" in step).length;
      const refusals = talk.steps.filter((step) => "code" in step).length;
      expect(outcomes + refusals).toBeGreaterThan(0);
      expect(expectPlayed(talk, Number.MAX_SAFE_INTEGER)).toBe(outcomes);
      expect(expectPlayed(talk, 64 * 1024 - 1)).toBe(outcomes);
    });
  }
});
