// What a person is shown of a call and told of other things: one line each, cut to what can be read.
// How it is escaped for a terminal is the shell's concern.

import { shownWordsMax } from "../capability/mod.ts";
import { noteMax, shownLineMax, shownWordMax } from "./bounds.ts";

const more = "…";

/** At least one word, each cut, and no more of them than fit a line. */
export function shownWords(words: readonly string[]): readonly string[] {
  const shown: string[] = [];
  let room = shownLineMax;
  for (const word of words) {
    if (room <= 0 || shown.length === shownWordsMax - 1) {
      shown.push(more);
      break;
    }
    const cut = shortened(word, Math.min(shownWordMax, room));
    room -= cut.length + 1;
    shown.push(cut);
  }
  return shown.length === 0 ? [more] : shown;
}

export function shownNote(text: string): string {
  return shortened(text, noteMax) || more;
}

function shortened(text: string, max: number): string {
  if (text.length <= max) return text.toWellFormed();
  // Half of a pair at the cut is no character.
  const cut = text.slice(0, max - 1).replace(/[\ud800-\udbff]$/u, "");
  return `${cut.toWellFormed()}${more}`;
}
