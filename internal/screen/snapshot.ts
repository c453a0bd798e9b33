// A snapshot: everything that a terminal has to be told so that it looks, and from then on behaves,
// like the emulator. The order matters: cells before margins and modes, positions after both, what
// the last character decides after the position, and unfinished bytes at the very end.

import type { Extras } from "./extras.ts";
import type { Cell, Charset, Core, ScreenBuffer } from "./internals.ts";
import type { Links } from "./links.ts";
import { type Grid, Ink, paintBuffer, writeLast } from "./paint.ts";

export interface SnapshotSource {
  readonly core: Core;
  readonly cell: Cell;
  readonly grid: Grid;
  readonly links: Links;
  readonly extras: Extras;
  /** The letter that designates a character set, by the set. */
  readonly charsets: ReadonlyMap<Charset, string>;
  readonly unfinished: Uint8Array;
}

type Numbers = Readonly<Record<string, number | undefined>>;

const mouseProtocols: Numbers = { X10: 9, VT200: 1000, DRAG: 1002, ANY: 1003 };
const mouseEncodings: Numbers = { SGR: 1006, SGR_PIXELS: 1016 };
/** The steady form of each; the blinking one is one less. */
const cursorStyles: Numbers = { block: 2, underline: 4, bar: 6 };

const modesOff = [
  ...[1, 5, 6, 45, 66, 9, 1000, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 1016, 2004, 2026, 2031],
];

/** Whatever state a terminal is in: the normal screen, empty, its cursor hidden while we paint. */
export const cleared = [
  "\x1b[?25l\x1b[?1049l\x1b[!p\x1b[?25l",
  `\x1b[?${modesOff.join(";")}l\x1b[?7h\x1b[4;20l\x1b>`,
  '\x1b(B\x1b)B\x1b*B\x1b+B\x0f\x1b[0"q\x1b]8;;\x1b\\\x1b[0 q\x1b[m\x1b[r\x1b[H\x1b[2J',
].join("");

export function takeSnapshot(source: SnapshotSource): Uint8Array {
  const { core, cell, grid, links, extras } = source;
  const { normal, alt, active } = core.buffers;
  const ink = new Ink(links);
  ink.write(cleared);
  paintBuffer(ink, normal, grid, cell);
  ink.write(tabStops(normal, grid));
  ink.write(extras.keyboardText("normal"));
  if (active === alt) {
    // This screen's margins and saved cursor are waited for behind the other one.
    ink.resetPen();
    ink.write(margins(normal, grid));
    writeSavedCursor(ink, source, normal, "\x1b[?1049h");
    ink.resetPen();
    ink.write("\x1b(B\x0f\x1b[r\x1b[H\x1b[2J");
    paintBuffer(ink, alt, grid, cell);
    ink.write(tabStops(alt, grid));
    ink.write(extras.keyboardText("alt"));
  }
  ink.resetPen();
  ink.write(extras.text());
  ink.write(titles(core));
  ink.write(margins(active, grid));
  writeSavedCursor(ink, source, active, "\x1b7");
  ink.write(modes(core));
  writeCursor(ink, source);
  const text = Buffer.from(ink.text);
  return source.unfinished.length === 0 ? text : Buffer.concat([text, source.unfinished]);
}

function margins({ scrollTop, scrollBottom }: ScreenBuffer, { rows }: Grid): string {
  const isWhole = scrollTop === 0 && scrollBottom === rows - 1;
  return isWhole ? "" : `\x1b[${scrollTop + 1};${scrollBottom + 1}r`;
}

/** Stops are every eight columns unless a program moved them; then all are told. */
function tabStops({ tabs }: ScreenBuffer, { cols }: Grid): string {
  const columns = Array.from({ length: cols }, (_, x) => x);
  if (columns.every((x) => (tabs[x] === true) === (x % 8 === 0))) return "";
  const set = columns.filter((x) => tabs[x] === true).map((x) => `\x1b[${x + 1}G\x1bH`);
  return `\x1b[3g${set.join("")}\r`;
}

function titles(core: Core): string {
  const { _windowTitle, _iconName, _windowTitleStack, _iconNameStack } = core._inputHandler;
  let text = "";
  for (const title of _windowTitleStack) text += `\x1b]2;${title}\x1b\\\x1b[22;2t`;
  for (const name of _iconNameStack) text += `\x1b]1;${name}\x1b\\\x1b[22;1t`;
  const isTold = (now: string, stack: readonly string[]) => now !== "" || stack.length > 0;
  if (isTold(_windowTitle, _windowTitleStack)) text += `\x1b]2;${_windowTitle}\x1b\\`;
  if (isTold(_iconName, _iconNameStack)) text += `\x1b]1;${_iconName}\x1b\\`;
  return text;
}

/** Puts the cursor where it was saved, as it was, and has it saved. Nothing else is left behind. */
function writeSavedCursor(
  ink: Ink,
  source: SnapshotSource,
  from: ScreenBuffer,
  save: string,
): void {
  const { cols, rows } = source.grid;
  const y = Math.min(rows - 1, Math.max(0, from.savedY - from.ybase));
  ink.moveTo(Math.min(from.savedX, cols - 1), y);
  ink.setPen(from.savedCurAttrData, true);
  const charset = source.charsets.get(from.savedCharset) ?? "B";
  ink.write(charset === "B" ? save : `\x1b(${charset}${save}\x1b(B`);
}

/** The four sets and which of them is in use. */
function designations({ core, charsets }: SnapshotSource): string {
  const { glevel, _charsets } = core._charsetService;
  let text = "";
  for (const [i, mark] of ["(", ")", "*", "+"].entries()) {
    const letter = charsets.get(_charsets[i]) ?? "B";
    if (letter !== "B") text += `\x1b${mark}${letter}`;
  }
  return text + (["", "\x0e", "\x1bn", "\x1bo"][glevel] ?? "");
}

/** After a cursor was restored the set in use may be none of the four. */
function charsetsOf(source: SnapshotSource): string {
  const { charset, glevel, _charsets } = source.core._charsetService;
  // The saved cursor brought it, and brings it again.
  return designations(source) + (charset === _charsets[glevel] ? "" : "\x1b8");
}

function modes(core: Core): string {
  const { modes: ansi, decPrivateModes: dec, isCursorHidden } = core.coreService;
  const { activeProtocol, activeEncoding } = core.coreMouseService;
  const on = [
    dec.applicationCursorKeys && 1,
    core.options.cursorBlink && 12,
    dec.reverseWraparound && 45,
    mouseProtocols[activeProtocol],
    dec.sendFocus && 1004,
    mouseEncodings[activeEncoding],
    dec.bracketedPasteMode && 2004,
    // Moves the cursor, so it comes before the position.
    dec.origin && 6,
    !isCursorHidden && 25,
    dec.synchronizedOutput && 2026,
  ].filter((mode) => typeof mode === "number");
  let text = on.length > 0 ? `\x1b[?${on.join(";")}h` : "";
  if (!dec.wraparound) text += "\x1b[?7l";
  if (dec.applicationKeypad) text += "\x1b=";
  if (ansi.insertMode) text += "\x1b[4h";
  if (core.options.convertEol) text += "\x1b[20h";
  const style = cursorStyles[dec.cursorStyle ?? ""];
  return style === undefined ? text : `${text}\x1b[${style - (dec.cursorBlink ? 1 : 0)} q`;
}

/**
 * The cursor, the pen, and what the last character left: whether it waits to wrap, and that a mark
 * joins it or a repetition repeats it. For those the character is written once more.
 */
function writeCursor(ink: Ink, source: SnapshotSource): void {
  const { core, grid, cell } = source;
  const { active } = core.buffers;
  const { _curAttrData: pen, _parser } = core._inputHandler;
  const y = active.y - (core.coreService.decPrivateModes.origin ? active.scrollTop : 0);
  const line = active.lines.get(active.ybase + active.y);
  const width = (_parser.precedingJoinState >>> 1) & 3;
  const start = active.x - width;
  ink.write(charsetsOf(source));
  if (width > 0 && start >= 0 && line?.loadCell(start, cell).getWidth() === width) {
    const last = line.loadCell(start, cell).getChars();
    ink.moveTo(start, y);
    ink.setPen(pen, true);
    // Where characters are inserted, this one makes room for itself first.
    if (core.coreService.modes.insertMode) ink.write(`\x1b[${width}P`);
    ink.write(last || " ");
    return;
  }
  if (active.x < grid.cols || line === undefined) {
    ink.moveTo(Math.min(active.x, grid.cols - 1), y);
  } else {
    ink.write("\x1b(B\x0f");
    writeLast(ink, line, y, grid.cols, cell);
    ink.write(designations(source));
    // No mark joins it: something came in between.
    ink.resetPen();
    ink.write("\x1b[m");
  }
  ink.setPen(pen, true);
}
