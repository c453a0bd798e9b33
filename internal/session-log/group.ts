// Which waiting batches may share one write. The message lines of a group are durable before any of
// its events, and a crash in between is rolled forward from those lines alone. So in one group the
// batches that end in a message come first, then at most one that goes on after its message, then
// only batches without messages.

import type { Batch } from "./records.ts";

/** Takes the longest front of `waiting` that may be one group, and removes it. */
export function takeGroup<T extends { readonly batch: Batch }>(waiting: T[]): T[] {
  let messagesAllowed = true;
  let count = 0;
  for (const { batch } of waiting) {
    const shape = shapeOf(batch);
    if (shape !== "none" && !messagesAllowed) break;
    if (shape !== "last") messagesAllowed = false;
    count += 1;
  }
  return waiting.splice(0, count);
}

function shapeOf(batch: Batch): "none" | "last" | "within" {
  const types = batch.entries.map((entry) => entry.event.type);
  const last = types.lastIndexOf("message");
  if (last < 0) return "none";
  return last === types.length - 1 ? "last" : "within";
}
