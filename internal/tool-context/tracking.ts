// W-TinyLFU over names: newcomers pass a small least-recently-used window; who leaves it enters the
// main part only against an entry that was used less often. The main part is segmented, so that one
// use more than once is worth a place among the protected. Source: Einziger, Friedman and Manes,
// 2017 (see sketch.ts). Every list holds the least recently used name first.

import type { ToolContextBounds } from "./bounds.ts";
import { estimate, type Sketch } from "./sketch.ts";

export interface Tracking {
  readonly window: readonly string[];
  readonly probation: readonly string[];
  readonly protected: readonly string[];
}

export const emptyTracking: Tracking = { window: [], probation: [], protected: [] };

/** Percent of the main part that entries which were used again have to themselves. */
const protectedPercent = 80;

export function segmentsOf({ cacheCapacity, windowPercent }: ToolContextBounds) {
  const window = Math.max(1, Math.floor((cacheCapacity * windowPercent) / 100));
  const main = cacheCapacity - window;
  return { window, main, protected: Math.floor((main * protectedPercent) / 100) };
}

export function isTracked(tracking: Tracking, name: string): boolean {
  return [tracking.window, tracking.probation, tracking.protected].some((one) =>
    one.includes(name),
  );
}

/** The name was used; the sketch knows that already. */
export function track(
  tracking: Tracking,
  sketch: Sketch,
  name: string,
  bounds: ToolContextBounds,
): Tracking {
  if (tracking.window.includes(name)) {
    return settle({ ...tracking, window: newest(tracking.window, name) }, sketch, bounds);
  }
  if (isTracked(tracking, name)) {
    const probation = tracking.probation.filter((one) => one !== name);
    const kept = { ...tracking, probation, protected: newest(tracking.protected, name) };
    return settle(kept, sketch, bounds);
  }
  return settle({ ...tracking, window: [...tracking.window, name] }, sketch, bounds);
}

export function untrack(tracking: Tracking, name: string): Tracking {
  const others = (names: readonly string[]) => names.filter((one) => one !== name);
  return {
    window: others(tracking.window),
    probation: others(tracking.probation),
    protected: others(tracking.protected),
  };
}

/** Brings every part within its bound, also after the bounds were lowered. */
export function settle(tracking: Tracking, sketch: Sketch, bounds: ToolContextBounds): Tracking {
  const room = segmentsOf(bounds);
  const window = [...tracking.window];
  const probation = [...tracking.probation];
  const kept = [...tracking.protected];
  const demote = () => {
    while (kept.length > room.protected) probation.push(kept.shift() as string);
  };
  demote();
  while (probation.length + kept.length > room.main)
    (probation.length > 0 ? probation : kept).shift();
  while (window.length > room.window) {
    const candidate = window.shift() as string;
    if (probation.length + kept.length < room.main) {
      probation.push(candidate);
      continue;
    }
    const from = probation.length > 0 ? probation : kept;
    const [victim] = from;
    // Equal counts keep who is there, so that a scan of strangers pushes nobody out.
    if (victim === undefined || estimate(sketch, candidate) <= estimate(sketch, victim)) continue;
    from.shift();
    probation.push(candidate);
  }
  return { window, probation, protected: kept };
}

export function newest(names: readonly string[], name: string): string[] {
  return [...names.filter((one) => one !== name), name];
}
