// Earlier lines as they are kept in a file: one JSON text a line, since a line may hold newlines. A line
// of the file that is none is passed over, so that a file cut by a crash loses one line at most.

import { lineUnitsMax } from "./editor.ts";

/** Lines that are kept. Past it the oldest go. */
export const historyLinesMax = 1000;

/** Bytes of the file. Past it the oldest lines go. */
export const historyBytesMax = 512 * 1024;

export function decodeHistory(file: string): string[] {
  const lines = file.split("\n").flatMap((line): string[] => {
    if (!line.startsWith('"')) return [];
    try {
      const text: unknown = JSON.parse(line);
      return typeof text === "string" && text.length <= lineUnitsMax ? [text] : [];
    } catch {
      return [];
    }
  });
  return lines.slice(-historyLinesMax);
}

/** At most `historyBytesMax` bytes, the newest lines. */
export function encodeHistory(lines: readonly string[]): string {
  const kept: string[] = [];
  let bytes = 0;
  for (const text of lines.slice(-historyLinesMax).reverse()) {
    const line = `${JSON.stringify(text)}\n`;
    bytes += new TextEncoder().encode(line).length;
    if (bytes > historyBytesMax) break;
    kept.push(line);
  }
  return kept.reverse().join("");
}

/** A line that is blank, begins with a space or repeats the newest one is not kept. */
export function remembered(lines: readonly string[], text: string): readonly string[] {
  if (text.trim() === "" || text.startsWith(" ") || lines.at(-1) === text) return lines;
  return [...lines, text].slice(-historyLinesMax);
}
