// Bounds of one session's tool context: what `tsh.d/config` says, within ceilings that hold whatever
// it says, so that the state stays small enough to be written after every call.

import { controlBytesMax } from "../abi/mod.ts";

/** What `tsh.d/config` sets. */
export interface ToolContextBounds {
  /** Unpinned tools whose metadata is loaded. Past it the least valuable one is unloaded. */
  readonly maxLoadedTools: number;
  /** Unpinned tools that W-TinyLFU tracks, loaded or not. Past it one is forgotten. */
  readonly cacheCapacity: number;
  /** Share of `cacheCapacity` that newcomers have to themselves, in percent; at least one entry. */
  readonly windowPercent: number;
}

/** Tools that are pinned at once. One more is refused with EMSGSIZE: a pinned tool never makes room. */
export const pinnedToolsMax = 64;

/** Loaded tools, and tracked ones, whatever the configuration says. */
export const toolEntriesMax = 1024;

/** UTF-8 bytes of the block that a prompt and an envelope get. Past it tools are left out of it. */
export const toolContextBytesMax = 64 * 1024;

/** UTF-16 units of one tool's description in the block. Past it the description is cut. */
export const descriptionUnitsMax = 4 * 1024;

/** Bytes of a written state. A longer file is damaged. */
export const toolContextFileBytesMax = controlBytesMax;

export function effectiveBounds(said: ToolContextBounds): ToolContextBounds {
  return {
    maxLoadedTools: clamp(said.maxLoadedTools, toolEntriesMax),
    cacheCapacity: clamp(said.cacheCapacity, toolEntriesMax),
    windowPercent: clamp(said.windowPercent, 100),
  };
}

function clamp(value: number, max: number): number {
  return Math.max(1, Math.min(max, Math.floor(value)));
}
