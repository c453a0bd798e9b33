// The marks around a prompt, a command and its output (OSC 133), by which whoever records or shows the
// terminal finds commands again. They are not seen.

export const marks = {
  prompt: "\x1b]133;A\x07",
  input: "\x1b]133;B\x07",
  end: (status: number) => `\x1b]133;D;${status}\x07`,
  /** The line itself goes with the mark, so that no redrawing can hide what it was. */
  output: (line: string) => `\x1b]133;C;cmdline_url=${encodedLine(line)}\x07`,
} as const;

/** UTF-16 units of a line that go with its mark, nine bytes each at most; a mark has 8 KiB. */
const markedUnitsMax = 800;

function encodedLine(line: string): string {
  return encodeURIComponent(line.slice(0, markedUnitsMax).toWellFormed());
}

/** Asks for pasted text between marks, and no more. */
export const pasteMarksOn = "\x1b[?2004h";
export const pasteMarksOff = "\x1b[?2004l";
