// The claims that hold of every protocol's folder and the judge behind it. A module's test calls
// them with its own judge; each is a whole comparison, so that a difference names its golden.

import { expect } from "bun:test";
import fc from "fast-check";
import type { Judgement } from "../../internal/abi/mod.ts";
import { LineDecoder } from "../../internal/frame/mod.ts";
import type { ProtocolFolder } from "./folder.ts";

export interface Subject {
  readonly folder: ProtocolFolder;
  readonly lineBytesMax: number;
  judge(line: string): Judgement;
  canonical(line: string): string;
}

const kindOf = (name: string, kinds: readonly string[]) =>
  kinds
    .filter((kind) => name === kind || name.startsWith(`${kind}-`))
    .sort((a, b) => b.length - a.length)[0];

/** Bytes of one line without LF, framed as the wire frames them. */
function judgeBytes({ judge, lineBytesMax }: Subject, bytes: Uint8Array): Judgement {
  const framed = new Uint8Array(bytes.length + 1);
  framed.set(bytes);
  framed[bytes.length] = 0x0a;
  const [first] = new LineDecoder(lineBytesMax).push(framed);
  if (first === undefined) throw new Error("one line gave no line");
  if (first.ok) return judge(first.line);
  return { ok: false, code: first.code, path: "", message: first.reason, by: "line" };
}

export function expectAccepted(subject: Subject): void {
  const { folder } = subject;
  for (const [name, text] of folder.accept) {
    const line = text.slice(0, -1);
    const said = subject.judge(line);
    expect([name, said]).toEqual([name, { ok: true, kind: kindOf(name, folder.kinds) as string }]);
    expect([name, subject.canonical(line)]).toEqual([name, text]);
    expect([name, folder.schemaAccepts(JSON.parse(line))]).toEqual([name, true]);
  }
  const accepted = new Set([...folder.accept.keys()].map((name) => kindOf(name, folder.kinds)));
  expect(folder.kinds.filter((kind) => !accepted.has(kind))).toEqual([]);
}

export function expectAcceptedAlso(subject: Subject): void {
  const { folder } = subject;
  for (const [name, text] of folder.acceptAlso) {
    const line = text.slice(0, -1);
    const kind = kindOf(name, folder.kinds) as string;
    expect([name, subject.judge(line)]).toEqual([name, { ok: true, kind }]);
    const canonical = subject.canonical(line);
    expect([name, canonical === text]).toEqual([name, false]);
    expect([name, subject.canonical(canonical.slice(0, -1))]).toEqual([name, canonical]);
    expect([name, folder.schemaAccepts(JSON.parse(line))]).toEqual([name, true]);
  }
}

export function expectRejected(subject: Subject): void {
  const { folder } = subject;
  for (const { name, bytes, ...expected } of folder.reject) {
    const { message, ...said } = { message: "", ...judgeBytes(subject, bytes) };
    expect([name, said]).toEqual([name, { ok: false, ...expected } as typeof said]);
    expect([name, /^\S.*[^.]$/s.test(message)]).toEqual([name, true]);
    if (expected.by === "line") continue;
    const accepted = folder.schemaAccepts(JSON.parse(new TextDecoder().decode(bytes)));
    expect([name, accepted]).toEqual([name, expected.by === "rule"]);
  }
}

/** Three rejections a kind, one golden a rule with the rule's code, one definition a kind. */
export function expectComplete({ folder }: Subject): void {
  const { kinds, reject, rules, definitions } = folder;
  const few = kinds.filter(
    (kind) => reject.filter(({ name }) => kindOf(name, kinds) === kind).length < 3,
  );
  expect(few).toEqual([]);
  const untested = rules.filter(
    (rule) =>
      !reject.some(
        (one) => one.by === "rule" && one.code === rule.code && one.name.includes(rule.name),
      ),
  );
  expect(untested.map((rule) => rule.name)).toEqual([]);
  const known = new Set(["*", ...kinds]);
  expect(rules.flatMap((rule) => rule.kinds).filter((kind) => !known.has(kind))).toEqual([]);
  expect(kinds.filter((kind) => !definitions.includes(kind))).toEqual([]);
}

const oddities: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  8,
  9,
  1e300,
  2 ** 53,
  "",
  "\0",
  "a\n",
  "\ud800",
  "x".repeat(300),
  "index",
  "a/b",
  "main",
  "ok",
  "system.md",
  "/",
  "a.d",
  "constructor",
  [],
  {},
  [[]],
  [""],
  ["\0"],
  [{ type: "text", text: "" }],
  { type: "text", text: "" },
  { a: { b: [] } },
];

function mutated(value: unknown, at: number, change: unknown, name: string): unknown {
  const copy = structuredClone(value);
  const places: { holder: Record<string, unknown>; key: string }[] = [];
  const walk = (holder: unknown) => {
    if (typeof holder !== "object" || holder === null) return;
    for (const key of Object.keys(holder)) {
      places.push({ holder: holder as Record<string, unknown>, key });
      walk((holder as Record<string, unknown>)[key]);
    }
  };
  walk(copy);
  const place = places[at % places.length];
  if (place === undefined) return copy;
  const { holder, key } = place;
  if (change === removed) {
    if (Array.isArray(holder)) holder.splice(Number(key), 1);
    else delete holder[key];
  } else if (change === added) {
    Object.defineProperty(Array.isArray(holder) ? copy : holder, name, {
      value: null,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  } else holder[key] = change;
  return copy;
}

const removed = Symbol("removed");
const added = Symbol("added");

/** Random changes of the accept goldens: the code and the schema give the same verdict. */
export function expectSameVerdicts(
  subject: Subject,
  runs: number,
): { accepted: number; refused: number } {
  const { folder } = subject;
  const frames = [...folder.accept.values(), ...folder.acceptAlso.values()]
    .filter((text) => text.length < 2 * 1024)
    .map((text) => JSON.parse(text) as unknown);
  const counts = { accepted: 0, refused: 0 };
  const change = fc.oneof(
    fc.constantFrom(...oddities, removed, added),
    fc.jsonValue({ maxDepth: 3 }),
  );
  const names = fc.constantFrom(
    "__proto__",
    "token",
    "ok",
    "op",
    "type",
    "schema",
    "run",
    "code",
    "id",
  );
  const changes = fc.array(fc.tuple(fc.nat(200), change, names), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(fc.constantFrom(...frames), changes, (frame, edits) => {
      let value = frame;
      for (const [at, what, name] of edits) value = mutated(value, at, what, name);
      const line = JSON.stringify(value);
      const said = subject.judge(line);
      const bySchema = folder.schemaAccepts(JSON.parse(line));
      const expected = said.ok || said.by === "rule";
      // The line is put into the comparison only when it differs: there are many, and some are long.
      expect(bySchema === expected ? "" : line).toBe("");
      counts[said.ok ? "accepted" : "refused"] += 1;
      if (said.ok) {
        const canonical = subject.canonical(line);
        expect(subject.canonical(canonical.slice(0, -1))).toEqual(canonical);
      }
    }),
    { numRuns: runs },
  );
  return counts;
}
