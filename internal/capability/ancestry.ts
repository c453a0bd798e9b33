// Whether a process belongs to a run: the decision alone, from two readings of its ancestors. A pid
// is reused sooner or later and a process can change its parent, so one reading proves nothing: each
// process is named by pid and start time, an ancestor is never younger than its descendant, and both
// readings must be the same to the letter and meet a launch root of the run.

/** A process by a name that is never used again: its start time is field 22 of /proc/PID/stat. */
export interface Stamp {
  readonly pid: number;
  /** Clock ticks since boot, in decimal digits. */
  readonly startTime: string;
}

/** One process on the way up, as it was read. */
export interface Step extends Stamp {
  readonly parent: number;
  /** One letter of /proc/PID/stat. */
  readonly state: string;
}

/** Parents between a peer and its launch root. Past it EACCES: nobody nests like that by accident. */
export const ancestryDepthMax = 64;

export type AncestryFault = "missing" | "dead" | "loop" | "reused" | "left" | "deep" | "changed";

export type AncestryVerdict =
  | { readonly ok: true; readonly root: Stamp; readonly depth: number }
  | { readonly ok: false; readonly why: AncestryFault; readonly because: string };

/**
 * Each walk begins with the peer and goes from parent to parent; it may end at a root or go on past
 * it, what lies above a root decides nothing. A walk that stops before a root has lost its way.
 */
export function judgeAncestry(
  first: readonly Step[],
  second: readonly Step[],
  roots: readonly Stamp[],
): AncestryVerdict {
  const one = judgeWalk(first, roots);
  if (!one.ok) return one;
  const two = judgeWalk(second, roots);
  if (!two.ok) return two;
  const same =
    one.depth === two.depth &&
    first.slice(0, one.depth + 1).every((step, index) => isSameLink(step, second[index], one));
  return same ? one : refuse("changed", "its ancestors changed while they were read");
}

/** The root's own parent is not part of the chain: it may lose it and still be the root. */
function isSameLink(step: Step, other: Step | undefined, { root }: { root: Stamp }): boolean {
  if (other === undefined || !isStamp(step, other)) return false;
  return step.parent === other.parent || isStamp(step, root);
}

function judgeWalk(walk: readonly Step[], roots: readonly Stamp[]): AncestryVerdict {
  const seen = new Set<number>();
  for (const [depth, step] of walk.entries()) {
    if (depth > ancestryDepthMax) {
      return refuse("deep", `no launch root within ${ancestryDepthMax} parents`);
    }
    const fault = linkFault(step, walk[depth - 1], seen);
    if (fault !== undefined) return fault;
    seen.add(step.pid);
    const root = roots.find((each) => isStamp(each, step));
    if (root !== undefined) return { ok: true, root, depth };
  }
  return endFault(walk, seen);
}

/** What is wrong with a step of a walk, given the one below it. */
function linkFault(
  step: Step,
  below: Step | undefined,
  seen: ReadonlySet<number>,
): AncestryVerdict | undefined {
  if (seen.has(step.pid)) return refuse("loop", `process ${step.pid} is its own ancestor`);
  if (!/^[0-9]+$/.test(step.startTime)) {
    return refuse("missing", `the start time of process ${step.pid} is not known`);
  }
  // A zombie runs nothing and has no children, and without a letter nothing is known.
  if (step.state === "") return refuse("missing", `the state of process ${step.pid} is not known`);
  if ("ZXx".includes(step.state)) return refuse("dead", `process ${step.pid} has ended`);
  if (below === undefined) return undefined;
  if (below.parent !== step.pid) {
    return refuse("changed", `process ${below.pid} got another parent while it was read`);
  }
  if (BigInt(step.startTime) > BigInt(below.startTime)) {
    return refuse("reused", `process ${step.pid} is younger than its child ${below.pid}`);
  }
  return undefined;
}

/** Why a walk ended without a root. */
function endFault(walk: readonly Step[], seen: ReadonlySet<number>): AncestryVerdict {
  const last = walk.at(-1);
  if (last === undefined) return refuse("missing", "nothing is known of the process");
  if (seen.has(last.parent)) return refuse("loop", `process ${last.parent} is its own ancestor`);
  if (last.parent <= 0) return refuse("left", "no ancestor is a launch root of this run");
  if (walk.length > ancestryDepthMax) {
    return refuse("deep", `no launch root within ${ancestryDepthMax} parents`);
  }
  return refuse("missing", `nothing is known of process ${last.parent}`);
}

function isStamp(one: Stamp, other: Stamp): boolean {
  return one.pid === other.pid && one.startTime === other.startTime;
}

function refuse(why: AncestryFault, because: string): AncestryVerdict {
  return { ok: false, why, because };
}
