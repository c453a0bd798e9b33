// What tab does: which word is meant, and what becomes of the line for the names that would fit.

import { type Editor, replace } from "./editor.ts";
import { lex, quoteWord } from "./words.ts";

export interface Target {
  /** What stands before the cursor of the word, without its quotes. */
  readonly prefix: string;
  /** Where the word begins in the line. */
  readonly from: number;
  /** Words of the same command before it. */
  readonly before: readonly string[];
}

export function completionTarget({ text, cursor }: Pick<Editor, "text" | "cursor">): Target {
  const head = text.slice(0, cursor);
  const { commands, open } = lex(head);
  const ended = open === undefined && /(?:^|[\s])$/.test(head);
  const last = commands.at(-1) ?? [];
  // A newline outside of quotes began another command.
  const current = ended && head.endsWith("\n") ? [] : last;
  const word = ended ? undefined : current.at(-1);
  const before = (word === undefined ? current : current.slice(0, -1)).map((one) => one.text);
  return { prefix: word?.text ?? "", from: word?.start ?? cursor, before };
}

export interface Candidate {
  readonly text: string;
  /** A folder, which goes on; anything else is a whole word. */
  readonly partial?: boolean;
}

export interface Completion {
  readonly next: Editor;
  /** Names to be shown when there is more than one and the line did not grow. */
  readonly list: readonly string[];
  readonly found: boolean;
}

/** Puts in as much as all candidates share; a single one whole, with a space behind it. */
export function complete(
  editor: Editor,
  target: Target,
  candidates: readonly Candidate[],
): Completion {
  const fitting = candidates.filter(({ text }) => text.startsWith(target.prefix));
  const [first] = fitting;
  if (first === undefined) return { next: editor, list: [], found: false };
  const shared = fitting.reduce((part, { text }) => common(part, text), first.text);
  const single = fitting.length === 1;
  if (shared.length <= target.prefix.length && !single) {
    return { next: editor, list: fitting.map(({ text }) => text), found: true };
  }
  const quoted = quoteWord(shared);
  // What goes on stays open, so that the next characters belong to the word.
  const open = (!single || first.partial === true) && /^['"]/.test(quoted);
  const word = open ? quoted.slice(0, -1) : quoted;
  const space = single && first.partial !== true && !editor.text.startsWith(" ", editor.cursor);
  const { next } = replace(editor, target.from, editor.cursor, space ? `${word} ` : word);
  return { next, list: [], found: true };
}

/** What two names begin with in common, a pair of halves kept whole. */
function common(a: string, b: string): string {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  const shared = a.slice(0, at);
  return /[\ud800-\udbff]$/.test(shared) ? shared.slice(0, -1) : shared;
}

/** Names in columns, top to bottom, in the width of the terminal. They must be escaped already. */
export function columns(names: readonly string[], cols: number): string[] {
  const widest = Math.max(1, ...names.map((name) => name.length)) + 2;
  const across = Math.max(1, Math.floor(cols / widest));
  const down = Math.ceil(names.length / across);
  return Array.from({ length: down }, (_, row) => {
    const line = Array.from({ length: across }, (_, column) => names[column * down + row] ?? "");
    return line
      .map((name) => name.padEnd(widest))
      .join("")
      .trimEnd();
  });
}
