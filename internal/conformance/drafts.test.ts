// The talks of interaction v2 are written ahead of a server, so nothing but this says that a frame in
// them is one: every frame that is sent as a frame must be right, and every pattern must be of a
// frame that could come, which is tried by putting it into a golden of its kind.

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { abiFile, abiFileNames, abiFiles } from "./files.ts";
import { acceptGoldens, kindsOf } from "./goldens.ts";
import { type Bindings, match, substitute } from "./pattern.ts";
import { protocolNamed } from "./registry.ts";
import { parseTalk, type Talk } from "./talk.ts";

setDefaultTimeout(120_000);

const folder = "interaction/v2/talk";
const talks = abiFileNames(folder).map((name) => {
  const file = `${folder}/${name}`;
  return parseTalk(file, abiFile(file));
});

/** Every name that the frames of a talk use, with a value that fits where it stands. */
function sentFrames(talk: Talk): { line: number; frame: unknown }[] {
  let bindings: Bindings = new Map<string, string | number>([["agent", "coder"]]);
  let fresh = 0;
  return talk.steps.flatMap(({ line, action }) => {
    if (action.kind === "expect") {
      // What a server would have chosen gets a value of the form that the pattern asks for.
      const matched = match(action.pattern, imagined(action.pattern, bindings), bindings);
      if (!matched.ok) throw new Error(`${talk.file}:${line}: ${matched.path} ${matched.reason}`);
      bindings = matched.bindings;
    }
    if (action.kind !== "send") return [];
    const filled = substitute(action.frame, bindings, () => `fresh-${++fresh}`);
    bindings = filled.bindings;
    return [{ line, frame: filled.value }];
  });
}

/** A value that the pattern matches. */
function imagined(pattern: unknown, bindings: Bindings): unknown {
  if (Array.isArray(pattern)) return pattern.map((one) => imagined(one, bindings));
  if (typeof pattern === "object" && pattern !== null) {
    const fields = Object.entries(pattern).filter(([, value]) => value !== "<->");
    return Object.fromEntries(fields.map(([key, value]) => [key, imagined(value, bindings)]));
  }
  if (typeof pattern !== "string" || !pattern.startsWith("<")) return pattern;
  const name = pattern.slice(1, -1);
  const counter = /^(.*#)(\+1?)?$/.exec(name);
  if (counter === null) return bindings.get(name) ?? `value-${name}`;
  const known = Number(bindings.get(counter[1] as string) ?? 0);
  return known === 0 ? 7 : counter[2] === undefined ? known : known + 1;
}

test("the drafts have one talk for every point of the target", () => {
  expect(talks.length).toBeGreaterThanOrEqual(40);
  const v2 = protocolNamed("v2");
  const sent = talks.flatMap(({ steps }) =>
    steps.flatMap(({ action }) => (action.kind === "send" ? [kindOf(action.frame)] : [])),
  );
  const masters = kindsOf(v2.name).kinds.filter(({ side }) => side !== "slave");
  const unused = masters.filter(({ kind }) => !sent.includes(kind)).map(({ kind }) => kind);
  expect(unused).toEqual([]);
  const promised = talks.filter(({ draft }) => !draft).map(({ name }) => name);
  // Framing is the same whoever serves the stream.
  expect(promised).toEqual(["v2/oversized-frame"]);
  expect(abiFiles().has(`${folder}/hello-welcome.jsonl`)).toBe(true);
});

function kindOf(frame: unknown): string {
  return String((frame as { event?: { kind?: unknown } }).event?.kind);
}

describe("every frame that is sent is right", () => {
  const { judge } = protocolNamed("v2");
  for (const talk of talks) {
    test(talk.name, () => {
      const said = sentFrames(talk).map(({ line, frame }) => ({
        line,
        judged: judge(JSON.stringify(frame)),
      }));
      expect(
        said.length + talk.steps.filter(({ action }) => isRaw(action.kind)).length,
      ).toBeGreaterThan(0);
      expect(said.filter(({ judged }) => !judged.ok)).toEqual([]);
    });
  }
});

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A golden with what the pattern says put into it; placeholders leave what the golden has. */
function completed(golden: unknown, pattern: unknown): unknown {
  if (!isFields(pattern)) {
    if (typeof pattern !== "string" || !/^<[^<]/.test(pattern)) return pattern;
    // A golden may have nothing where a number or a name is asked for.
    return golden ?? (pattern.endsWith("#>") || pattern.endsWith("+>") ? 7 : "value");
  }
  const fields: Fields = isFields(golden) ? { ...golden } : {};
  for (const [key, value] of Object.entries(pattern)) {
    if (value === "<->") delete fields[key];
    else fields[key] = completed(fields[key], value);
  }
  return fields;
}

const dataType = (frame: unknown) =>
  (frame as { event?: { data?: { type?: unknown } } }).event?.data?.type;

const goldens = acceptGoldens("interaction/v2", "accept")
  .map(({ text }) => JSON.parse(text) as { event: { side: string; kind: string } })
  .filter(({ event }) => event.side === "slave");

describe("every frame that is expected could come", () => {
  const { judge } = protocolNamed("v2");
  for (const talk of talks) {
    const patterns = talk.steps.flatMap(({ line, action }) =>
      action.kind === "expect" ? [{ line, pattern: action.pattern }] : [],
    );
    if (patterns.length === 0) continue;
    test(talk.name, () => {
      const said = patterns.map(({ line, pattern }) => {
        const alike = goldens
          .filter(({ event }) => event.kind === kindOf(pattern))
          .filter((golden) =>
            [undefined, dataType(golden)].includes(dataType(pattern) as undefined),
          );
        const judged = alike.map((golden) => judge(JSON.stringify(completed(golden, pattern))));
        return { line, could: judged.some(({ ok }) => ok), judged: judged[0] };
      });
      expect(said.filter(({ could }) => !could)).toEqual([]);
    });
  }
});

function isRaw(kind: string): boolean {
  return kind === "send_line" || kind === "send_bytes" || kind === "send_repeat";
}
