// One line under a person's hands, as a value: keys in, a new state and what should happen out. It
// knows no terminal: how the line is drawn is `layout`'s, what a submitted line means is the shell's.

import type { Key, KeyName } from "./keys.ts";
import { clustersOf } from "./width.ts";

/** UTF-16 units of one line. Past it what is typed is refused with a bell. */
export const lineUnitsMax = 128 * 1024;

export interface Editor {
  readonly text: string;
  /** UTF-16 offset, never inside of a cluster. */
  readonly cursor: number;
  /** What was cut last, for ctrl-y. */
  readonly cut: string;
  /** Earlier lines, the oldest first. */
  readonly history: readonly string[];
  /** Which of them is shown; `history.length` is the line that is being written. */
  readonly at: number;
  /** The line being written while an earlier one is shown. */
  readonly draft: string;
  readonly search: Search | undefined;
}

export interface Search {
  readonly query: string;
  /** The line that it found, or where it started when it found none. */
  readonly at: number;
  readonly found: boolean;
  readonly before: Pick<Editor, "text" | "cursor" | "at">;
}

export type Effect =
  | { readonly kind: "submit"; readonly text: string }
  | { readonly kind: "complete" }
  /** Ctrl-C: the line is given up. */
  | { readonly kind: "abandon" }
  /** Ctrl-D on an empty line. */
  | { readonly kind: "end" }
  | { readonly kind: "clear" }
  | { readonly kind: "bell" };

export interface Edited {
  readonly next: Editor;
  readonly effects: readonly Effect[];
}

export function freshEditor(history: readonly string[], cut = ""): Editor {
  const { length } = history;
  return { text: "", cursor: 0, cut, history, at: length, draft: "", search: undefined };
}

const bell: Effect = { kind: "bell" };

export function edit(editor: Editor, key: Key): Edited {
  if (editor.search !== undefined) return searching(editor, editor.search, key);
  if (key.kind === "text") return insert(editor, key.text);
  if (key.kind === "paste") {
    const text = key.text.replace(/\r\n?/g, "\n").replace(/\n+$/, "");
    const { next, effects } = insert(editor, text);
    return { next, effects: key.cut ? [...effects, bell] : effects };
  }
  const { name } = key;
  switch (name) {
    case "enter":
      return { next: editor, effects: [{ kind: "submit", text: editor.text }] };
    case "tab":
      return { next: editor, effects: [{ kind: "complete" }] };
    case "ctrl-c":
      return { next: editor, effects: [{ kind: "abandon" }] };
    case "ctrl-l":
      return { next: editor, effects: [{ kind: "clear" }] };
    case "ctrl-d":
      if (editor.text === "") return { next: editor, effects: [{ kind: "end" }] };
      return removed(editor, editor.cursor, right(editor));
    case "up":
    case "ctrl-p":
      return recalled(editor, editor.at - 1);
    case "down":
    case "ctrl-n":
      return recalled(editor, editor.at + 1);
    case "ctrl-r":
      return quiet({ ...editor, search: startSearch(editor) });
    default:
      return moved(editor, name) ?? cutting(editor, name) ?? { next: editor, effects: [] };
  }
}

function quiet(next: Editor): Edited {
  return { next, effects: [] };
}

/** Puts text at the cursor; nothing of it when the line would become too long. */
export function insert(editor: Editor, text: string): Edited {
  if (editor.text.length + text.length > lineUnitsMax) return { next: editor, effects: [bell] };
  return replace(editor, editor.cursor, editor.cursor, text);
}

/** Puts text in place of a part, the cursor behind it. */
export function replace(editor: Editor, from: number, to: number, text: string): Edited {
  const whole = editor.text.slice(0, from) + text + editor.text.slice(to);
  return quiet({ ...editor, text: whole, cursor: settled(whole, from + text.length) });
}

/** A combining character that was just typed belongs to what stands before it. */
function settled(text: string, cursor: number): number {
  if (/^[\x20-\x7e\n]{0,2}$/.test(text.slice(Math.max(0, cursor - 1), cursor + 1))) return cursor;
  const near = lineStart(text, cursor);
  let at = near;
  for (const cluster of clustersOf(text.slice(near))) {
    if (at >= cursor) break;
    at += cluster.length;
  }
  return at;
}

const lineStart = (text: string, at: number) => text.lastIndexOf("\n", at - 1) + 1;

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

function left({ text, cursor }: Editor): number {
  if (cursor === 0) return 0;
  const from = lineStart(text, cursor);
  if (from === cursor) return cursor - 1;
  return cursor - (clustersOf(text.slice(from, cursor)).at(-1)?.length ?? 0);
}

function right({ text, cursor }: Editor): number {
  if (cursor === text.length) return cursor;
  const rest = text.slice(cursor, Math.max(lineEnd(text, cursor), cursor + 1));
  return cursor + (clustersOf(rest)[0]?.length ?? 0);
}

function wordLeft({ text, cursor }: Editor): number {
  return /[\p{L}\p{N}\p{M}_]*[^\p{L}\p{N}\p{M}_]*$/u.exec(text.slice(0, cursor))?.index ?? 0;
}

function wordRight({ text, cursor }: Editor): number {
  const word = /^[^\p{L}\p{N}\p{M}_]*[\p{L}\p{N}\p{M}_]*/u.exec(text.slice(cursor));
  return cursor + (word?.[0].length ?? 0);
}

function moved(editor: Editor, name: KeyName): Edited | undefined {
  const to = (cursor: number) => quiet({ ...editor, cursor });
  switch (name) {
    case "left":
    case "ctrl-b":
      return to(left(editor));
    case "right":
    case "ctrl-f":
      return to(right(editor));
    case "home":
    case "ctrl-a":
      return to(lineStart(editor.text, editor.cursor));
    case "end":
    case "ctrl-e":
      return to(lineEnd(editor.text, editor.cursor));
    case "word-left":
    case "alt-b":
      return to(wordLeft(editor));
    case "word-right":
    case "alt-f":
      return to(wordRight(editor));
    default:
      return undefined;
  }
}

function removed(editor: Editor, from: number, to: number): Edited {
  if (from === to) return { next: editor, effects: [bell] };
  return replace(editor, from, to, "");
}

/** Removes a part and keeps it for ctrl-y. */
function cutOut(editor: Editor, from: number, to: number): Edited {
  if (from === to) return { next: editor, effects: [bell] };
  return replace({ ...editor, cut: editor.text.slice(from, to) }, from, to, "");
}

function cutting(editor: Editor, name: KeyName): Edited | undefined {
  const { text, cursor } = editor;
  switch (name) {
    case "backspace":
      return removed(editor, left(editor), cursor);
    case "delete":
      return removed(editor, cursor, right(editor));
    case "ctrl-u":
      return cutOut(editor, lineStart(text, cursor), cursor);
    case "ctrl-k":
      return cutOut(editor, cursor, lineEnd(text, cursor));
    case "ctrl-w":
      return cutOut(editor, /\S*\s*$/.exec(text.slice(0, cursor))?.index ?? 0, cursor);
    case "alt-backspace":
      return cutOut(editor, wordLeft(editor), cursor);
    case "alt-d":
      return cutOut(editor, cursor, wordRight(editor));
    case "ctrl-y":
      return insert(editor, editor.cut);
    default:
      return undefined;
  }
}

function recalled(editor: Editor, at: number): Edited {
  const { history } = editor;
  if (at < 0 || at > history.length) return { next: editor, effects: [bell] };
  const draft = editor.at === history.length ? editor.text : editor.draft;
  const text = at === history.length ? draft : (history[at] as string);
  return quiet({ ...editor, text, cursor: text.length, at, draft });
}

function startSearch({ text, cursor, at }: Editor): Search {
  return { query: "", at, found: true, before: { text, cursor, at } };
}

/** Typing narrows it, ctrl-r goes on to older lines, ctrl-g and ctrl-c give up, all else takes it. */
function searching(editor: Editor, search: Search, key: Key): Edited {
  if (key.kind === "text") return searched(editor, search, search.query + key.text, search.at);
  const name = key.kind === "key" ? key.name : undefined;
  if (name === "ctrl-r") return searched(editor, search, search.query, search.at - 1);
  if (name === "backspace") {
    const shorter = clustersOf(search.query).slice(0, -1).join("");
    return searched(editor, search, shorter, editor.history.length - 1);
  }
  if (name === "ctrl-g" || name === "ctrl-c") {
    return quiet({ ...editor, ...search.before, search: undefined });
  }
  const taken = { ...editor, search: undefined };
  return name === "escape" ? quiet(taken) : edit(taken, key);
}

function searched(editor: Editor, search: Search, query: string, from: number): Edited {
  const { history } = editor;
  for (let at = Math.min(from, history.length - 1); at >= 0 && query !== ""; at--) {
    const text = history[at] as string;
    const cursor = text.indexOf(query);
    if (cursor < 0) continue;
    const draft = editor.at === history.length ? editor.text : editor.draft;
    const found = { ...search, query, at, found: true };
    return quiet({ ...editor, text, cursor: cursor + query.length, at, draft, search: found });
  }
  const none = { ...search, query, found: query === "" };
  return { next: { ...editor, search: none }, effects: query === "" ? [] : [bell] };
}
