// The tools whose metadata one session has loaded, as a value: pinned ones, which nothing but their
// owner takes away, and others, of which the least valuable makes room. It knows names and nothing of
// authority: who may be loaded is asked before, and what is shown is asked again when it is shown.

import { fail } from "../abi/mod.ts";
import { effectiveBounds, pinnedToolsMax, type ToolContextBounds } from "./bounds.ts";
import { emptySketch, estimate, increment, type Sketch } from "./sketch.ts";
import {
  emptyTracking,
  isTracked,
  newest,
  settle,
  type Tracking,
  track,
  untrack,
} from "./tracking.ts";

export interface ToolContext {
  /** In the order in which they were pinned. */
  readonly pinned: readonly string[];
  /** Loaded and not pinned, the least recently used first. */
  readonly loaded: readonly string[];
  /** What W-TinyLFU knows of unpinned tools, loaded or only used. */
  readonly tracking: Tracking;
  readonly sketch: Sketch;
}

export interface Change {
  readonly state: ToolContext;
  /** Tools that were unloaded to make room. */
  readonly unloaded: readonly string[];
}

export const freshToolContext: ToolContext = {
  pinned: [],
  loaded: [],
  tracking: emptyTracking,
  sketch: emptySketch,
};

export function isLoaded(state: ToolContext, name: string): boolean {
  return state.pinned.includes(name) || state.loaded.includes(name);
}

/** The tool was used: whether it is loaded does not change, only how valuable it is. */
export function touch(state: ToolContext, name: string, bounds: ToolContextBounds): ToolContext {
  const limits = effectiveBounds(bounds);
  const sketch = increment(state.sketch, name, limits.cacheCapacity);
  if (state.pinned.includes(name)) return { ...state, sketch };
  const loaded = state.loaded.includes(name) ? newest(state.loaded, name) : state.loaded;
  return { ...state, sketch, loaded, tracking: track(state.tracking, sketch, name, limits) };
}

export function load(state: ToolContext, name: string, bounds: ToolContextBounds): Change {
  const used = touch(state, name, bounds);
  if (used.pinned.includes(name)) return { state: used, unloaded: [] };
  return within({ ...used, loaded: newest(used.loaded, name) }, bounds);
}

/** Loaded and protected. EMSGSIZE when as many as may be are pinned already. */
export function pin(state: ToolContext, name: string, bounds: ToolContextBounds): Change {
  const used = touch(state, name, bounds);
  if (used.pinned.includes(name)) return { state: used, unloaded: [] };
  if (used.pinned.length >= pinnedToolsMax) {
    const reason = `${pinnedToolsMax} tools are pinned already`;
    fail("EMSGSIZE", `tool "${name}" is not pinned: ${reason}`, { hint: "unpin one first" });
  }
  const loaded = used.loaded.filter((one) => one !== name);
  const pinned = [...used.pinned, name];
  return within({ ...used, pinned, loaded, tracking: untrack(used.tracking, name) }, bounds);
}

/** It stays loaded as the newest of those that may be unloaded. EINVAL when it is not pinned. */
export function unpin(state: ToolContext, name: string, bounds: ToolContextBounds): Change {
  if (!state.pinned.includes(name)) fail("EINVAL", `tool "${name}" is not pinned`);
  const pinned = state.pinned.filter((one) => one !== name);
  const tracking = track(state.tracking, state.sketch, name, effectiveBounds(bounds));
  return within({ ...state, pinned, tracking, loaded: newest(state.loaded, name) }, bounds);
}

/** EINVAL when it is pinned or not loaded. */
export function unload(state: ToolContext, name: string): ToolContext {
  if (state.pinned.includes(name)) {
    fail("EINVAL", `tool "${name}" is pinned`, { hint: "unpin it first" });
  }
  if (!state.loaded.includes(name)) fail("EINVAL", `tool "${name}" is not loaded`);
  return { ...state, loaded: state.loaded.filter((one) => one !== name) };
}

/** The state under these bounds, which may be lower than those it was made under. */
export function within(state: ToolContext, bounds: ToolContextBounds): Change {
  const limits = effectiveBounds(bounds);
  const tracking = settle(state.tracking, state.sketch, limits);
  const unloaded: string[] = [];
  let loaded = state.loaded;
  while (loaded.length > limits.maxLoadedTools) {
    const victim = leastValuable({ ...state, tracking, loaded });
    unloaded.push(victim);
    loaded = loaded.filter((one) => one !== victim);
  }
  return { state: { ...state, tracking, loaded }, unloaded };
}

/**
 * Of all loaded tools but the newest: first what W-TinyLFU has forgotten, then what was used least
 * often, then what was never used again, then what was used longest ago.
 */
function leastValuable({ loaded, tracking, sketch }: ToolContext): string {
  const older = loaded.slice(0, -1).map((name, age) => ({
    name,
    worth: [
      isTracked(tracking, name) ? 1 : 0,
      estimate(sketch, name),
      tracking.protected.includes(name) ? 1 : 0,
      age,
    ],
  }));
  older.sort((a, b) => {
    const at = a.worth.findIndex((part, index) => part !== b.worth[index]);
    return at < 0 ? 0 : (a.worth[at] ?? 0) - (b.worth[at] ?? 0);
  });
  return older[0]?.name ?? (loaded[0] as string);
}
