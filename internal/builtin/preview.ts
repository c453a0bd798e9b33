// What fs.write or fs.replace would change, for a person to judge before it is done. Pure: the text
// of the file as it is now comes in.

import { unifiedDiff, wholeDiff } from "./diff.ts";
import { occurrences } from "./replace.ts";

export type Preview =
  | { readonly ok: true; readonly diff: string }
  /** Why there is nothing to show: a clause. */
  | { readonly ok: false; readonly because: string };

/** `before` is undefined when there is no such file. Only these two tools have a preview. */
export function previewChange(
  name: "fs.write" | "fs.replace",
  args: Readonly<Record<string, unknown>>,
  before: string | undefined,
): Preview {
  const path = String(args["path"]);
  if (name === "fs.write") {
    const after = String(args["content"]);
    if (before === after) return { ok: false, because: "the file has this content already" };
    return { ok: true, diff: wholeDiff(path, before, after) };
  }
  if (before === undefined) return { ok: false, because: "the file does not exist" };
  const old = String(args["old"]);
  const next = String(args["new"]);
  const count = Number(args["count"] ?? 1);
  const found = old === "" ? [] : occurrences(before, old);
  if (found.length !== count) {
    const times = found.length === 1 ? "once" : `${found.length} times`;
    return { ok: false, because: `the old text occurs ${times} in the file, so it would fail` };
  }
  const edits = found.map((start) => ({ start, end: start + old.length, text: next }));
  return { ok: true, diff: unifiedDiff(path, before, edits, Number.POSITIVE_INFINITY) };
}
