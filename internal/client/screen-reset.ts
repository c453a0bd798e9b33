// What a person's terminal is told before and after it shows another one: programs inside may have
// left any mode on, and a shell that gets the terminal back expects none of them. Fixed bytes, so that
// they can be sent when nothing is known any more about what was shown.

const CSI = "\x1b[";

/** Keeps what stands on the screen in the scrollback, and the title on the terminal's stack. */
export function entering(rows: number): string {
  return `${CSI}22;2t${CSI}${rows};1H${"\n".repeat(Math.max(rows, 1))}${CSI}H`;
}

/** Ends whatever sequence was cut, then every mode that a shell does not expect, in an order that does
 * not undo itself: margins move the cursor, so it goes to the last row after them. */
export const leaving = [
  // CAN and ST end a sequence that was cut in its middle.
  "\x18\x1b\\",
  // Synchronized output, mouse reports of all kinds, focus reports, bracketed paste.
  ...[
    "2026",
    "9",
    "1000",
    "1001",
    "1002",
    "1003",
    "1005",
    "1006",
    "1015",
    "1016",
    "1004",
    "2004",
  ].map((mode) => `${CSI}?${mode}l`),
  // Keyboard: cursor keys and keypad as usual, xterm's and kitty's full reports off.
  `${CSI}?1l\x1b>${CSI}>4;0m${CSI}=0;1u`,
  // The normal screen, left margins, scroll region, origin, insert, newline mode, wrap, reverse video.
  `${CSI}?1047l${CSI}?69l${CSI}r${CSI}?6l${CSI}4l${CSI}20l${CSI}?7h${CSI}?5l`,
  // Tab stops, character sets, hyperlink, colours, cursor shown in its own shape, title.
  `${CSI}?5W\x1b(B\x1b)B\x0f\x1b]8;;\x1b\\${CSI}0m${CSI}?25h${CSI}0 q${CSI}23;2t`,
  `${CSI}999;1H\r\n`,
].join("");
