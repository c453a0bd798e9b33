// What a person's terminal is told before and after it shows another one: programs inside may have
// left any mode on, and a shell that gets the terminal back expects none of them. Fixed bytes, so that
// they can be sent when nothing is known any more about what was shown.

const CSI = "\x1b[";

/** Keeps what stands on the screen in the scrollback, and the title on the terminal's stack. */
export function entering(rows: number): string {
  return `${CSI}22;2t${CSI}${rows};1H${"\n".repeat(Math.max(rows, 1))}${CSI}H`;
}

/** Modes that a shell does not expect. */
const modes = [
  // Synchronized output, reverse wrap, reports of the mouse of all kinds and of focus.
  ...[2026, 45, 9, 1000, 1001, 1002, 1003, 1005, 1006, 1015, 1016, 1004],
  // Bracketed paste, the wheel as arrow keys, reports of the colour scheme and of the size, keys as
  // Windows has them.
  ...[2004, 1007, 2031, 2048, 9001],
];

/** Kitty's reports off, and all that programs put on their stack, of which each screen has its own. */
const keyboard = `${CSI}=0;1u${CSI}<99u`;

/** Ends whatever sequence was cut, then every mode that a shell does not expect, in an order that does
 * not undo itself: margins move the cursor, so it goes to the last row after them. */
export const leaving = [
  // CAN and ST end a sequence that was cut in its middle.
  "\x18\x1b\\",
  ...modes.map((mode) => `${CSI}?${mode}l`),
  // Cursor keys and keypad as usual, xterm's reports of modified keys as they were configured.
  `${CSI}?1l\x1b>${CSI}>4m`,
  // The normal screen, left margins, scroll region, origin, insert, newline mode, wrap, reverse video.
  `${keyboard}${CSI}?1047l${keyboard}`,
  `${CSI}?69l${CSI}r${CSI}?6l${CSI}4l${CSI}20l${CSI}?7h${CSI}?5l`,
  // Tab stops, character sets, hyperlink, colours, cursor shown in its own shape, title.
  `${CSI}?5W\x1b(B\x1b)B\x0f\x1b]8;;\x1b\\${CSI}0m${CSI}?25h${CSI}0 q${CSI}23;2t`,
  `${CSI}999;1H\r\n`,
].join("");

/**
 * The palette, the text's colours, the cursor's and the selection's as they were configured. Only for
 * a terminal whose colours were changed: the person's shell may have given it others itself.
 */
export const coloursBack = [104, 110, 111, 112, 117, 119]
  .map((command) => `\x1b]${command}\x1b\\`)
  .join("");

/** The longest beginning of a command that changes colours, less its last byte. */
const cutBytesMax = 4;

/** Finds in what is shown that colours of the terminal itself are changed. */
export class ColourWatch {
  #before = "";
  #changed = false;

  /** Whether they are by now. */
  push(bytes: Uint8Array): boolean {
    if (this.#changed || (this.#before === "" && !bytes.includes(0x1b))) return this.#changed;
    const text = this.#before + Buffer.from(bytes).toString("latin1");
    this.#changed = /\x1b\](4|5|1[0-9]|21);/.test(text);
    const cut = text.lastIndexOf("\x1b");
    this.#before = cut < Math.max(0, text.length - cutBytesMax) ? "" : text.slice(cut);
    return this.#changed;
  }
}
