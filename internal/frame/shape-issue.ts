// From what a schema library says about a value to a refusal in our words: one fault, the first, by
// its JSON Pointer. The issue is described by structure, so that this floor needs no library.

import { quoted } from "../abi/mod.ts";
import { isJsonObject, type LineRefusal, pointer, refusal } from "./json-line.ts";

export interface ShapeIssue {
  readonly code?: string;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** Names of members that nobody knows. */
  readonly keys?: readonly string[];
  /** What each branch of a union said. */
  readonly errors?: readonly (readonly ShapeIssue[])[];
}

/** `value` is what was judged; it tells a missing member from a wrong one. */
export function shapeRefusal(value: unknown, issues: readonly ShapeIssue[]): LineRefusal {
  const [first] = issues;
  if (first === undefined) throw new RangeError("a shape was refused without a reason");
  const issue = deepest(first);
  const [unknown] = issue.keys ?? [];
  if (issue.code === "unrecognized_keys" && unknown !== undefined) {
    const path = pointer([...issue.path, unknown]);
    return refusal("schema", path, `field ${quoted(unknown)} is not known`);
  }
  const path = pointer(issue.path);
  const name = quoted(path.slice(1));
  if (isMissing(value, issue.path)) return refusal("schema", path, `field ${name} is missing`);
  const reason = issue.message.replace(/^Invalid input: /, "");
  return refusal("schema", path, `field ${name} is not valid: ${reason}`);
}

/** Of a union the branch that understood most of the value, which is what its writer meant. */
function deepest(issue: ShapeIssue): ShapeIssue {
  let best: ShapeIssue | undefined;
  for (const branch of issue.errors ?? []) {
    const [first] = branch;
    if (first === undefined) continue;
    const inner = deepest(first);
    const keys = inner.keys === undefined ? 0 : 1;
    if (inner.path.length + keys > (best === undefined ? 0 : best.path.length)) best = inner;
  }
  return best === undefined ? issue : { ...best, path: [...issue.path, ...best.path] };
}

function isMissing(value: unknown, path: readonly PropertyKey[]): boolean {
  let at: unknown = value;
  for (const [index, part] of path.entries()) {
    const last = index === path.length - 1;
    if (Array.isArray(at)) at = at[Number(part)];
    else if (!isJsonObject(at)) return false;
    else if (!Object.hasOwn(at, part)) return last;
    else at = at[String(part)];
  }
  return false;
}
