// Breaks a golden line a little, in its structure or in its bytes, by the numbers of a seed. What
// comes out may still be right: a test compares two validators and knows no third answer.

import type { Random } from "./random.ts";

type Json = unknown;
type Parent = Record<string, Json> | Json[];

/** Where a value stands: `holder[key]`. */
interface Spot {
  readonly holder: Parent;
  readonly key: string | number;
}

/** One mutation of `bytes`, a line without LF; `donor` is another one of the same protocol. */
export function mutateLine(random: Random, bytes: Uint8Array, donor: Uint8Array): Uint8Array {
  if (random.below(3) > 0) {
    const changed = mutateStructure(random, bytes, donor);
    if (changed !== undefined) return changed;
  }
  return mutateBytes(random, bytes, donor);
}

/** Longer lines are mutated as bytes: one golden nests thousands of arrays, and copies of it add up. */
const structureBytesMax = 4096;

function parse(bytes: Uint8Array): Json {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

function mutateStructure(
  random: Random,
  bytes: Uint8Array,
  donor: Uint8Array,
): Uint8Array | undefined {
  if (Math.max(bytes.length, donor.length) > structureBytesMax) return undefined;
  const root = [parse(bytes)];
  const other = [parse(donor)];
  if (root[0] === undefined || other[0] === undefined) return undefined;
  const rounds = 1 + random.below(2);
  for (let round = 0; round < rounds; round++) {
    const spots = spotsOf(root);
    // The root itself may have been dropped.
    if (spots.length > 0) random.pick(mutations)(random, random.pick(spots), spotsOf(other));
  }
  return new TextEncoder().encode(JSON.stringify(root[0] ?? null));
}

/** Every place of a value, the root too; containers that are empty have none inside. */
function spotsOf(root: Json[]): Spot[] {
  const spots: Spot[] = [];
  const visit = (holder: Parent) => {
    const keys = Array.isArray(holder) ? holder.keys() : Object.keys(holder);
    for (const key of keys) {
      spots.push({ holder, key });
      const value = at({ holder, key });
      if (typeof value === "object" && value !== null) visit(value as Parent);
    }
  };
  visit(root);
  return spots;
}

function at({ holder, key }: Spot): Json {
  return (holder as Record<string | number, Json>)[key];
}

function put({ holder, key }: Spot, value: Json): void {
  (holder as Record<string | number, Json>)[key] = value;
}

function drop({ holder, key }: Spot): void {
  if (Array.isArray(holder)) holder.splice(key as number, 1);
  else delete holder[key];
}

type Mutation = (random: Random, spot: Spot, others: readonly Spot[]) => void;

const mutations: readonly Mutation[] = [
  (_, spot) => drop(spot),
  (random, spot) => put(spot, anyValue(random)),
  (random, spot) => put(spot, random.pick(numbers)),
  (random, spot) => put(spot, random.pick(texts)()),
  // The same kind of value, a little outside of what it may be.
  (random, spot) => put(spot, near(random, at(spot))),
  (random, spot) => put(spot, near(random, at(spot))),
  (random, spot, others) => put(spot, structuredClone(at(random.pick(others)))),
  rename,
  add,
];

/** A fresh one each time: what is put in may be changed by the next mutation. */
const anyValue = (random: Random): Json => structuredClone(random.pick(values));

const values: readonly Json[] = [null, true, false, "", [], {}, [null], { type: "x" }, [[[]]]];

const numbers: readonly number[] = [
  0, 1, -1, 1.5, 255, 256, 262144, 262145, 4294967295, 4294967296, 9007199254740991,
  9007199254740992, 1e21, 1e308, -9007199254740992, 0.1, 5e-324,
];

const lengths: readonly number[] = [63, 64, 65, 127, 128, 129, 255, 256, 257];
const letters: readonly string[] = ["a", "ä", "€", "😀", "/", "0"];

const texts: readonly (() => string)[] = [
  ...letters.flatMap((letter) => lengths.map((length) => () => letter.repeat(length))),
  ...["\0", "a\0b", "\n", "\ud800", "a\udc00", "\u2028", "\u007f", "..", ".", "/", "//", "/a/../b"],
  ...[
    "index",
    "a.sock",
    "a.d",
    "-a",
    "ok",
    "error",
    "private",
    "shared",
    "temp",
    "2026-02-30T00:00:00Z",
  ],
  ...["cortexfs.interaction/v1", "cortexfs.interaction/v2", "EINVAL", "busy", "request", "event"],
].map((text) => (typeof text === "string" ? () => text : text));

function near(random: Random, value: Json): Json {
  if (typeof value === "number") return value + random.pick([-1, 1, 0.5, -value, 2 ** 53]);
  if (typeof value === "boolean") return !value;
  if (typeof value === "string") return nearText(random, value);
  if (Array.isArray(value)) {
    const grown = random.pick([0, 1, 15, 16, 32, 256]);
    return [...value, ...Array<Json>(grown).fill(value[0] ?? "x")];
  }
  return value === null ? anyValue(random) : { ...(value as object), kind: "x" };
}

function nearText(random: Random, text: string): string {
  const cut = random.below(text.length + 1);
  const inserted = random.pick(["", "\0", "/", ".", "x", "ä", " ", "\ud83d", "\n", "-"]);
  return random.pick([
    text.slice(0, cut) + inserted + text.slice(cut),
    text.slice(0, cut),
    text.toUpperCase(),
    text + text,
    ` ${text}`,
  ]);
}

function rename(random: Random, spot: Spot): void {
  if (Array.isArray(spot.holder)) return;
  const value = at(spot);
  const name = String(spot.key);
  drop(spot);
  const renamed = random.pick([`${name}_`, name.toUpperCase(), "type", "op", "kind", "x_other"]);
  put({ holder: spot.holder, key: renamed }, value);
}

function add(random: Random, spot: Spot): void {
  const value = at(spot);
  if (typeof value !== "object" || value === null) return;
  const extra = anyValue(random);
  if (Array.isArray(value)) value.push(extra);
  else {
    const key = random.pick(["x_unknown", "", "shared", "cwd", "code", "run", "id", "constructor"]);
    (value as Record<string, Json>)[key] = extra;
  }
}

const tokens: readonly string[] = [
  ...[
    '"',
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "null",
    "true",
    "-",
    "0",
    "1e400",
    "1E2",
    "-0",
    "01",
  ],
  ...[
    "\\u0000",
    "\\ud800",
    "\\uD83D\\uDE00",
    "\\u0061",
    "\\/",
    "\t",
    "\r",
    " ",
    "\ufeff",
    "\u2028",
  ],
  ...['"__proto__":{"a":1},', '"x":1,', '"constructor":null,', "\0", "NaN", "Infinity", "//", "'"],
];

/** Bytes that UTF-8 never has, or not alone. */
const strayBytes: readonly number[] = [0xff, 0xc0, 0x80, 0xed, 0xf5];

function mutateBytes(random: Random, bytes: Uint8Array, donor: Uint8Array): Uint8Array {
  const from = random.below(bytes.length + 1);
  const to = Math.min(bytes.length, from + random.below(12));
  const head = bytes.subarray(0, from);
  switch (random.below(7)) {
    case 6:
      return insertMember(random, bytes);
    case 0:
      return join(head, bytes.subarray(to));
    case 1:
      return join(head, new TextEncoder().encode(random.pick(tokens)), bytes.subarray(from));
    case 2:
      return join(head, new TextEncoder().encode(random.pick(tokens)), bytes.subarray(to));
    case 3:
      return join(head, new Uint8Array([random.pick(strayBytes)]), bytes.subarray(from));
    case 4:
      return join(head, donor.subarray(random.below(donor.length + 1)));
    default: {
      const flipped = bytes.slice();
      const place = Math.min(from, bytes.length - 1);
      if (place >= 0) flipped[place] = (flipped[place] as number) ^ (1 << random.below(8));
      return withoutLineFeed(flipped);
    }
  }
}

const members: readonly string[] = [
  ...['"__proto__":{"op":"ping"},', '"constructor":{},', '"toString":null,', '"x":1e400,'],
  ...['"op":"ping",', '"type":"pong",', '"kind":"hello",', '"id":null,', '"id":"",', '"abi":"x",'],
  ...['"\\u006fp":"ping",', '"":{},', '"session":"default",', '"data":{},', '"hasOwnProperty":1,'],
];

/** A member twice, one that objects inherit, or an escaped name: what only the text can say. */
function insertMember(random: Random, bytes: Uint8Array): Uint8Array {
  const places = [...bytes.keys()].filter((place) => bytes[place] === 0x7b);
  if (places.length === 0) return bytes;
  const place = random.pick(places) + 1;
  const member = new TextEncoder().encode(random.pick(members));
  return join(bytes.subarray(0, place), member, bytes.subarray(place));
}

function join(...parts: readonly Uint8Array[]): Uint8Array {
  return withoutLineFeed(new Uint8Array(Buffer.concat(parts)));
}

/** An LF would end the line: what follows it is another one. */
function withoutLineFeed(bytes: Uint8Array): Uint8Array {
  const end = bytes.indexOf(0x0a);
  return end < 0 ? bytes : bytes.subarray(0, end);
}
