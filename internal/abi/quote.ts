// How a message names a thing that somebody else wrote. The text is cut and escaped, so that a
// name can neither flood a log nor move a terminal's cursor.

/** Characters of a quoted text that a message shows. Past it the rest becomes an ellipsis. */
export const quotedCharactersMax = 96;

/** `text` in double quotes, control and invisible direction characters escaped, cut when long. */
export function quoted(text: string): string {
  const characters = [...text.slice(0, 2 * quotedCharactersMax + 2)];
  const cut = characters.length > quotedCharactersMax;
  const shown = cut ? `${characters.slice(0, quotedCharactersMax).join("")}…` : text;
  return JSON.stringify(shown).replace(
    /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    unicodeEscape,
  );
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
