// Text that other people or programs wrote, made safe for a terminal: what could move the cursor,
// recolour, retitle or reorder the line is shown as an escape instead of being obeyed. Newline and
// tab stay; a backslash stays as it is, so that ordinary text reads unchanged.

// C0 but tab and newline, DEL, C1; the bidirectional marks, embeddings, overrides and isolates.
const dangerous = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

const unsafeInJson = /[\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Makes `text` harmless to print; idempotent. */
export function escapeText(text: string): string {
  return text.replace(dangerous, (character) => {
    const code = character.charCodeAt(0);
    if (code === 13) return "\\r";
    return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : unicodeEscape(character);
  });
}

/** As `escapeText`, and newline and tab too: for a name or a reason inside one line. */
export function escapeLine(text: string): string {
  return escapeText(text).replace(/\n/g, "\\n").replace(/\t/g, "\\t");
}

// What takes no place, is not seen, or looks like a space and is none. Newline and tab are seen.
const unseen = /(?![\n\t])[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;

/**
 * As `escapeText`, and what cannot be seen too: for text that a person judges by reading it. Not for
 * prose, where some of these characters join what belongs together.
 */
export function revealText(text: string): string {
  return escapeText(text).replace(unseen, (character) => {
    if (character.length === 1) return unicodeEscape(character);
    return `\\u{${character.codePointAt(0)?.toString(16)}}`;
  });
}

/** `revealText` inside one line. */
export function revealLine(text: string): string {
  return escapeLine(revealText(text));
}

/** One line of JSON that means the same and prints harmlessly; JSON itself covers C0. */
export function safeJson(value: unknown): string {
  return escapeJson(JSON.stringify(value));
}

/** The same for a line that is JSON already. */
export function escapeJson(line: string): string {
  return line.replace(unsafeInJson, unicodeEscape);
}
