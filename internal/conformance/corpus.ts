// The lines that the mutation and fuzz tests start from, and one judgement of a mutant by both.

import type { Judgement } from "../abi/mod.ts";
import { acceptGoldens, rejectGoldens } from "./goldens.ts";
import { judgeBytes } from "./judge-lines.ts";
import { mutateLine } from "./mutate.ts";
import { agree, type OracleVerdict, oracle } from "./oracle.ts";
import { Random } from "./random.ts";
import type { Protocol } from "./registry.ts";

/** Longer goldens would make a million mutants take hours and say nothing more. */
const seedLineBytesMax = 16 * 1024;

/** Every golden line of a protocol that is not too long, without its LF. */
export function corpusOf(protocol: Protocol): Uint8Array[] {
  const accepted = (["accept", "accept-also"] as const)
    .flatMap((folder) => acceptGoldens(protocol.name, folder))
    .map(({ text }) => new TextEncoder().encode(text.slice(0, -1)));
  const refused = rejectGoldens(protocol.name).map(({ bytes }) => bytes);
  // Right lines twice: most of what is near a wrong one is wrong for the same reason.
  return [...accepted, ...accepted, ...refused].filter(({ length }) => length < seedLineBytesMax);
}

export interface Mutant {
  readonly bytes: Uint8Array;
  readonly judged: Judgement;
  readonly verdict: OracleVerdict;
}

/** The mutant of one seed; the same seed and corpus give the same one. */
export function mutantOf(protocol: Protocol, corpus: readonly Uint8Array[], seed: number): Mutant {
  const random = new Random(seed);
  let bytes = random.pick(corpus);
  for (let rounds = 1 + random.below(3); rounds > 0; rounds--) {
    bytes = mutateLine(random, bytes, random.pick(corpus));
  }
  const judged = judgeBytes(protocol.lineBytesMax, protocol.judge, bytes);
  return { bytes, judged, verdict: oracle(protocol, bytes) };
}

/** Undefined when both agree; else what each said, of which line, and the seed that made it. */
export function disagreement(
  protocol: Protocol,
  corpus: readonly Uint8Array[],
  seed: number,
): string | undefined {
  const { bytes, judged, verdict } = mutantOf(protocol, corpus, seed);
  if (agree(judged, verdict)) return undefined;
  const ours = judged.ok
    ? `accepts a ${judged.kind}`
    : `refuses by ${judged.by} at "${judged.path}" (${judged.message})`;
  const theirs = verdict === "accept" ? "accepts" : `refuses by ${verdict}`;
  const shown = new TextDecoder().decode(bytes.subarray(0, 4000));
  return `${protocol.name}, seed ${seed}: the code ${ours}, the schema ${theirs}: ${shown}`;
}
