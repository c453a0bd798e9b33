// Reads what `bun test` printed about one file. The counts come from its closing lines, never from
// counting marks, and a file that says nothing countable has failed.

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  /** One sentence for each test that did not run, with its reason where it gave one. */
  readonly skipped: readonly string[];
}

/**
 * `status` is the exit status of bun. A test that finds that it cannot run here prints a line
 * `SKIP reason` and returns; bun calls that passed, we do not.
 */
export function summarize(output: string, status: number): Counts {
  const marked = [...output.matchAll(/^\((?:skip|todo)\) (.*)$/gm)].map((match) => match[1] ?? "");
  const said = [...output.matchAll(/^SKIP:? (.*)$/gm)].map((match) => match[1] ?? "");
  const passed = Math.max(0, closing(output, "pass") - said.length);
  const failed = closing(output, "fail");
  const silent = closing(output, "skip") + closing(output, "todo") - marked.length;
  const skipped = [...marked, ...said, ...Array<string>(Math.max(0, silent)).fill("(unnamed)")];
  const ranNothing = passed + failed + skipped.length === 0;
  return { passed, failed: failed === 0 && (status !== 0 || ranNothing) ? 1 : failed, skipped };
}

function closing(output: string, word: string): number {
  const found = [...output.matchAll(new RegExp(`^ *(\\d+) ${word}$`, "gm"))].at(-1);
  return Number(found?.[1] ?? 0);
}

export function add(left: Counts, right: Counts): Counts {
  return {
    passed: left.passed + right.passed,
    failed: left.failed + right.failed,
    skipped: [...left.skipped, ...right.skipped],
  };
}

/** What did not run, for a person: a whole group in one line with its size, a single test by name. */
export function skipLines(skipped: readonly string[]): string[] {
  const groups = new Map<string, string[]>();
  for (const name of skipped) {
    const group = name.includes(" > ") ? name.slice(0, name.indexOf(" > ")) : name;
    groups.set(group, [...(groups.get(group) ?? []), name]);
  }
  return [...groups].map(([group, names]) =>
    names.length === 1 ? (names[0] as string) : `${group}: ${names.length} tests`,
  );
}

export function lastLine(counts: Counts): string {
  return `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped.length} skipped`;
}
