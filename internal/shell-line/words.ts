// What a typed line means: words, kept apart by spaces and held together by quotes, and nothing else.
// There is no expansion, no variable, no pipe and no redirection: every other character is itself, so
// a tool gets exactly what was typed. A newline outside of quotes ends a command.

import { fail } from "../abi/mod.ts";

export interface Word {
  readonly text: string;
  /** Where it was typed, quotes included: UTF-16 offsets of the line. */
  readonly start: number;
  readonly end: number;
}

/** What is left open at the end of a text: a quote, or a backslash with nothing after it. */
export type Open = "'" | '"' | "\\";

export interface Lexed {
  /** One list of words for each command; an empty line is no command. */
  readonly commands: readonly (readonly Word[])[];
  /** The last word is unfinished, since this was not closed; `openAt` is where it was opened. */
  readonly open: Open | undefined;
  readonly openAt: number;
}

/** Never throws: an unfinished text is what a person is typing. */
export function lex(text: string): Lexed {
  const commands: Word[][] = [];
  let words: Word[] = [];
  let word: { text: string; start: number } | undefined;
  let quote: "'" | '"' | undefined;
  let openAt = 0;
  const endWord = (end: number) => {
    if (word !== undefined) words.push({ ...word, end });
    word = undefined;
  };
  const add = (part: string, at: number) => {
    word ??= { text: "", start: at };
    word.text += part;
  };
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string;
    if (quote !== undefined) {
      if (character === quote) quote = undefined;
      else if (quote === '"' && character === "\\" && /["\\]/.test(text[at + 1] ?? "")) {
        add(text[++at] as string, at);
      } else add(character, at);
    } else if (character === "'" || character === '"') {
      quote = character;
      openAt = at;
      add("", at);
    } else if (character === "\\") {
      if (at + 1 === text.length) {
        add("", at);
        endWord(text.length);
        return { commands: [...commands, words], open: "\\", openAt: at };
      }
      // A backslash before the end of a line joins the two.
      if (text[++at] !== "\n") add(text[at] as string, at - 1);
    } else if (character === "\n") {
      endWord(at);
      if (words.length > 0) commands.push(words);
      words = [];
    } else if (character === " " || character === "\t" || character === "\r") endWord(at);
    else add(character, at);
  }
  endWord(text.length);
  if (words.length > 0) commands.push(words);
  return { commands, open: quote, openAt };
}

/** The commands of a finished text. Throws EINVAL with the line and column of what was left open. */
export function commandsIn(text: string): string[][] {
  const { commands, open, openAt } = lex(text);
  if (open !== undefined) {
    const above = text.slice(0, openAt).split("\n");
    const line = above.length;
    const column = (above.at(-1)?.length ?? 0) + 1;
    const what =
      open === "\\" ? "nothing follows the backslash" : `the quote ${open} is not closed`;
    fail("EINVAL", `${what}, at line ${line}, column ${column}`);
  }
  return commands.map((words) => words.map((word) => word.text));
}

const plain = /^[\p{L}\p{N}_@%+=:,./~^{}[\]!?*$&|;<>()#-]+$/u;

/** The word as it can be typed so that it is read as itself. */
export function quoteWord(text: string): string {
  if (plain.test(text)) return text;
  return text.includes("'") && !/["\\]/.test(text)
    ? `"${text}"`
    : `'${text.replaceAll("'", `'\\''`)}'`;
}
