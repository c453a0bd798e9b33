// A unified diff of edits whose places are known, so nothing has to be searched: each edit is
// widened to whole lines, neighbours whose contexts touch share a hunk.

/** Replaces the characters from `start` to before `end` of the old text. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const contextLines = 3;

/** Lines of one diff; past it the rest is counted, not shown. */
const diffLinesMax = 120;

interface Region {
  /** Old lines from `first` to before `last` become `lines`. */
  readonly first: number;
  last: number;
  readonly lines: string[];
}

export function unifiedDiff(
  name: string,
  before: string,
  edits: readonly Edit[],
  linesMax = diffLinesMax,
): string {
  const old = splitLines(before);
  const regions = lineRegions(before, old, edits);
  const out = [`--- a/${name}`, `+++ b/${name}`];
  let shift = 0;
  for (let index = 0; index < regions.length; ) {
    let end = index + 1;
    while (end < regions.length && touches(regions[end - 1], regions[end])) end++;
    shift = pushHunk(out, old, regions.slice(index, end), shift);
    index = end;
  }
  const hidden = out.length - linesMax;
  if (hidden > 0) out.splice(linesMax, hidden, `… ${hidden} more lines of diff`);
  return `${out.join("\n")}\n`;
}

/** The same for two whole texts: one hunk from their first to their last difference, not cut. */
export function wholeDiff(name: string, before: string | undefined, after: string): string {
  const old = splitLines(before ?? "");
  const now = splitLines(after);
  const shorter = Math.min(old.length, now.length);
  let same = 0;
  while (same < shorter && old[same] === now[same]) same++;
  let tail = 0;
  while (tail < shorter - same && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  const head = [before === undefined ? "--- /dev/null" : `--- a/${name}`, `+++ b/${name}`];
  if (same === old.length && same === now.length) return `${head.join("\n")}\n`;
  const from = Math.max(0, same - contextLines);
  const oldTo = Math.min(old.length, old.length - tail + contextLines);
  const nowTo = Math.min(now.length, now.length - tail + contextLines);
  const hunk = `@@ -${range(from, oldTo)} +${range(from, nowTo)} @@`;
  const body = [
    ...marked(" ", old.slice(from, same)),
    ...marked("-", old.slice(same, old.length - tail)),
    ...marked("+", now.slice(same, now.length - tail)),
    ...marked(" ", old.slice(old.length - tail, oldTo)),
  ];
  return `${[...head, hunk, ...body].join("\n")}\n`;
}

/** A side without lines is numbered by the line before it. */
function range(from: number, to: number): string {
  return `${from === to ? from : from + 1},${to - from}`;
}

/** Lines with their newline; the last may lack one. */
function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function lineRegions(text: string, lines: readonly string[], edits: readonly Edit[]): Region[] {
  const starts: number[] = [0];
  for (const line of lines) starts.push((starts.at(-1) as number) + line.length);
  const regions: Region[] = [];
  let line = 0;
  let index = 0;
  while (index < edits.length) {
    const first = edits[index] as Edit;
    while ((starts[line + 1] ?? Infinity) <= first.start) line++;
    const from = line;
    let replaced = text.slice(starts[from], first.start) + first.text;
    let at = first.end;
    let last = lineAfter(starts, from, at);
    index++;
    // Edits that share a line belong together, and a line that lost its end takes in the next one.
    for (;;) {
      const next = edits[index];
      if (next !== undefined && next.start < (starts[last] ?? text.length)) {
        replaced += text.slice(at, next.start) + next.text;
        at = next.end;
        last = lineAfter(starts, last - 1, at);
        index++;
        continue;
      }
      const whole = replaced + text.slice(at, starts[last]);
      if (whole === "" || whole.endsWith("\n") || last >= lines.length) break;
      last++;
    }
    replaced += text.slice(at, starts[last]);
    regions.push({ first: from, last, lines: splitLines(replaced) });
  }
  return regions;
}

/** The first line that starts at or after `offset`, looking from `line` on. */
function lineAfter(starts: readonly number[], line: number, offset: number): number {
  let after = line + 1;
  while (after < starts.length - 1 && (starts[after] as number) < offset) after++;
  return after;
}

function touches(a: Region | undefined, b: Region | undefined): boolean {
  return a !== undefined && b !== undefined && b.first - a.last <= 2 * contextLines;
}

/** Appends one hunk and returns the difference of new and old line numbers after it. */
function pushHunk(
  out: string[],
  old: readonly string[],
  regions: readonly Region[],
  shift: number,
): number {
  const from = Math.max(0, (regions[0] as Region).first - contextLines);
  const to = Math.min(old.length, (regions.at(-1) as Region).last + contextLines);
  const body: string[] = [];
  let line = from;
  let grown = 0;
  for (const region of regions) {
    body.push(...marked(" ", old.slice(line, region.first)));
    body.push(...marked("-", old.slice(region.first, region.last)));
    body.push(...marked("+", region.lines));
    grown += region.lines.length - (region.last - region.first);
    line = region.last;
  }
  body.push(...marked(" ", old.slice(line, to)));
  const newLength = to - from + grown;
  // A side without lines is numbered by the line before it.
  const newFrom = from + shift + (newLength === 0 ? 0 : 1);
  out.push(`@@ -${from + 1},${to - from} +${newFrom},${newLength} @@`, ...body);
  return shift + grown;
}

function marked(mark: string, lines: readonly string[]): string[] {
  return lines.flatMap((line) =>
    line.endsWith("\n")
      ? [mark + line.slice(0, -1)]
      : [mark + line, "\\ No newline at end of file"],
  );
}
