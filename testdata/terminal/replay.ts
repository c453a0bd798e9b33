// The claim about a snapshot, as a function: a terminal that was given the snapshot is like one that
// read everything, at once and after whatever comes later.

import { createScreen } from "../../internal/screen/mod.ts";
import { createReference, type Reference } from "./reference.ts";

export interface Resize {
  /** After so many bytes. */
  readonly at: number;
  readonly cols: number;
  readonly rows: number;
}

export interface Recording {
  readonly cols: number;
  readonly rows: number;
  readonly bytes: Uint8Array;
  readonly resizes?: readonly Resize[];
}

/** Plays what lies between two points of a recording. */
export function play(
  recording: Recording,
  from: number,
  to: number,
  target: { write(bytes: Uint8Array): void; resize(cols: number, rows: number): void },
): void {
  let at = from;
  for (const resize of recording.resizes ?? []) {
    if (resize.at < from || resize.at >= to) continue;
    target.write(recording.bytes.subarray(at, resize.at));
    target.resize(resize.cols, resize.rows);
    at = resize.at;
  }
  target.write(recording.bytes.subarray(at, to));
}

/** What is wrong with a snapshot taken after `cut` bytes; nothing is how it should be. */
export async function faultsOfSnapshot(recording: Recording, cut: number): Promise<string[]> {
  const { cols, rows, bytes } = recording;
  const screen = createScreen({ cols, rows });
  play(recording, 0, cut, {
    write: (part) => screen.push(part),
    resize: screen.resize.bind(screen),
  });
  const snapshot = await screen.snapshot();
  screen.close();
  const whole = createReference(cols, rows);
  play(recording, 0, cut, whole);
  const joined = createReference(snapshot.cols, snapshot.rows);
  joined.write(snapshot.bytes);
  const faults = differences(joined, whole).map((text) => `at the cut, ${text}`);
  // No terminal can be told that its first line goes on from one that it never had; later output
  // may move that line down.
  const isBlind = whole.beginsWrapped();
  play(recording, cut, bytes.length, whole);
  play(recording, cut, bytes.length, joined);
  faults.push(...differences(joined, whole, isBlind).map((text) => `at the end, ${text}`));
  if (snapshot.approximate) faults.push("the snapshot calls itself approximate");
  whole.close();
  joined.close();
  return faults;
}

/** What differs between a terminal that was given only the snapshot and another one. */
export function faultsAgainst(
  snapshot: { bytes: Uint8Array; cols: number; rows: number },
  wanted: Reference,
): string[] {
  const joined = createReference(snapshot.cols, snapshot.rows);
  joined.write(snapshot.bytes);
  const faults = differences(joined, wanted);
  joined.close();
  return faults;
}

function differences(got: Reference, wanted: Reference, isBlind = false): string[] {
  const found: string[] = [];
  const seen = (reference: Reference) => {
    const state = reference.state();
    return isBlind
      ? { ...state, normal: bare(state.normal), alternate: bare(state.alternate) }
      : state;
  };
  compare(seen(got), seen(wanted), "", found);
  return found;
}

/** Lines without the mark of being wrapped. */
function bare(lines: readonly string[] | undefined): readonly string[] | undefined {
  return lines?.map((line) => line.replace(/^~/, ""));
}

function compare(got: unknown, wanted: unknown, name: string, found: string[]): void {
  if (isRecord(got) && isRecord(wanted)) {
    for (const key of new Set([...Object.keys(got), ...Object.keys(wanted)])) {
      compare(got[key], wanted[key], name === "" ? key : `${name}.${key}`, found);
    }
  } else if (!Object.is(got, wanted)) {
    found.push(`${name} is ${JSON.stringify(got)} and should be ${JSON.stringify(wanted)}`);
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
