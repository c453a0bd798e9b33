// fs.replace: an exact edit. The old text must occur exactly as often as the caller expects (once,
// unless it says otherwise), so that an edit never lands in a place that was not meant.

import { closeSync } from "node:fs";
import { fail } from "../abi/mod.ts";
import { type Edit, unifiedDiff } from "./diff.ts";
import { absolute, fileBytesMax, openRegular, readText, replaceRegular } from "./files.ts";
import { type BuiltinResult, type Input, ok } from "./result.ts";

/** Line numbers named in a refusal; the count is always exact. */
const namedLinesMax = 20;

export function replace(input: Input, cwd: string): BuiltinResult {
  const shown = input.path();
  const old = input.text("old");
  const next = input.text("new");
  const count = input.whole("count", 1) ?? 1;
  if (old === "") fail("EINVAL", "fs.replace needs old text that is not empty");
  if (old === next) fail("EINVAL", "fs.replace: old and new text are the same");
  const path = absolute(cwd, shown);
  const [fd, seen] = openRegular("edit", path, shown);
  let before: string;
  try {
    before = readText("edit", fd, shown);
  } finally {
    closeSync(fd);
  }
  const found = occurrences(before, old);
  if (found.length !== count) refuseCount(shown, before, old, found, count);
  const edits: Edit[] = found.map((start) => ({ start, end: start + old.length, text: next }));
  const after = apply(before, edits);
  const content = new TextEncoder().encode(after);
  if (content.length > fileBytesMax) {
    fail("EMSGSIZE", `cannot edit ${JSON.stringify(shown)}: more than ${fileBytesMax} bytes after`);
  }
  replaceRegular({ action: "edit", path, shown, content, seen });
  return ok(unifiedDiff(shown, before, edits));
}

/** Start of every occurrence, left to right, none overlapping another. */
export function occurrences(text: string, part: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) {
    found.push(at);
  }
  return found;
}

function apply(text: string, edits: readonly Edit[]): string {
  let result = "";
  let at = 0;
  for (const edit of edits) {
    result += text.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return result + text.slice(at);
}

function refuseCount(
  shown: string,
  text: string,
  old: string,
  found: readonly number[],
  count: number,
): never {
  const subject = `cannot edit ${JSON.stringify(shown)}`;
  if (found.length === 0) {
    const near = sameButSpace(text, old);
    fail("EINVAL", `${subject}: the old text does not occur in it`, {
      hint:
        near === undefined
          ? "read the file again; the text must match exactly, white space too"
          : `line ${near} matches but for white space; copy the text exactly`,
    });
  }
  const lines = found.slice(0, namedLinesMax).map((at) => lineOf(text, at));
  const named = lines.join(", ") + (found.length > namedLinesMax ? ", …" : "");
  const times = found.length === 1 ? "once" : `${found.length} times`;
  const wanted = count === 1 ? "once" : `${count} times`;
  fail("EINVAL", `${subject}: the old text occurs ${times} (line ${named}), expected ${wanted}`, {
    hint: "take in more of the lines around it, or say how often it occurs with count",
  });
}

function lineOf(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < offset; at = text.indexOf("\n", at + 1)) line++;
  return line;
}

/** The line where the old text would start if white space did not count; the usual mistake. */
function sameButSpace(text: string, old: string): number | undefined {
  const wanted = old.split("\n").map((line) => line.trim());
  while (wanted.length > 1 && wanted[0] === "") wanted.shift();
  while (wanted.length > 1 && wanted.at(-1) === "") wanted.pop();
  if (wanted[0] === "") return undefined;
  const lines = text.split("\n").map((line) => line.trim());
  for (let at = 0; at + wanted.length <= lines.length; at++) {
    if (wanted.every((line, index) => lines[at + index] === line)) return at + 1;
  }
  return undefined;
}
