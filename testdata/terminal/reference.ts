// A second terminal to hold snapshots against: the emulator as its package gives it, and everything
// that can be seen of it, or that later output can make visible, as plain values.

import { type IBufferCell, type IBufferLine, Terminal } from "@xterm/headless";

export interface Reference {
  write(bytes: Uint8Array): void;
  resize(cols: number, rows: number): void;
  state(): State;
  /** The lines in view, without looks and without spaces at their ends. */
  plain(): string[];
  /** The first line goes on from one that scrolled away. */
  beginsWrapped(): boolean;
  close(): void;
}

export interface State {
  readonly cols: number;
  readonly rows: number;
  readonly screen: "normal" | "alternate";
  readonly cursor: readonly [x: number, y: number];
  readonly normal: readonly string[];
  readonly alternate: readonly string[] | undefined;
  /** All else, by name. */
  readonly rest: Readonly<Record<string, unknown>>;
}

/**
 * One width a code point, as terminals of today count; the package's own are of Unicode 6. A mark
 * joins what is left of it, and takes a cell where nothing is.
 */
const widths = (column: () => number) => ({
  version: "reference",
  wcwidth: widthOf,
  charProperties(codePoint: number, preceding: number): number {
    const width = widthOf(codePoint);
    if (width > 0 || codePoint < 0x20) return width << 1;
    const before = (preceding >> 1) & 3;
    if (before > 0) return (before << 1) | 1;
    return column() === 0 ? 1 << 1 : 1;
  },
});

function widthOf(codePoint: number): number {
  if (codePoint < 0x300) return codePoint < 0x20 ? 0 : 1;
  return Math.min(2, Bun.stringWidth(String.fromCodePoint(codePoint)));
}

// biome-ignore lint/suspicious/noExplicitAny: a look inside, on purpose without our own types
type Inside = any;

export function createReference(cols: number, rows: number): Reference {
  const terminal = new Terminal({
    cols,
    rows,
    scrollback: 0,
    allowProposedApi: true,
    logLevel: "off",
    windowOptions: { pushTitle: true, popTitle: true },
  });
  const core: Inside = Reflect.get(terminal, "_core");
  const provider = widths(() => core.buffers.active.x);
  terminal.unicode.register(provider as never);
  terminal.unicode.activeVersion = provider.version;
  // The service forgets a link with its first line; what its cells said is still to be compared.
  const links = new Map<number, string>();
  const service = core._oscLinkService;
  const register = service.registerLink.bind(service);
  service.registerLink = (data: { id?: string; uri: string }) => {
    const id: number = register(data);
    links.set(id, `${data.id ?? ""};${data.uri}`);
    return id;
  };
  return {
    write: (bytes) => core._inputHandler.parse(bytes),
    resize: (newCols, newRows) => terminal.resize(newCols, newRows),
    state: () => stateOf(terminal, core, (id) => links.get(id) ?? "?"),
    plain: () =>
      Array.from({ length: terminal.rows }, (_, y) => {
        const { active } = terminal.buffer;
        return (
          active
            .getLine(active.baseY + y)
            ?.translateToString(true)
            .trimEnd() ?? ""
        );
      }),
    beginsWrapped: () => terminal.buffer.active.getLine(0)?.isWrapped === true,
    close: () => terminal.dispose(),
  };
}

function stateOf(terminal: Terminal, core: Inside, link: (id: number) => string): State {
  const { active, normal, alternate } = terminal.buffer;
  const isAlternate = active.type === "alternate";
  const lines = (buffer: typeof normal) =>
    Array.from({ length: terminal.rows }, (_, y) => {
      const line = buffer.getLine(buffer.baseY + y);
      return line === undefined ? "" : lineText(line, y, terminal.cols, link);
    });
  return {
    cols: terminal.cols,
    rows: terminal.rows,
    screen: isAlternate ? "alternate" : "normal",
    // One behind the last column is a cursor that waits to wrap.
    cursor: [core.buffers.active.x, active.cursorY],
    normal: lines(normal),
    alternate: isAlternate ? lines(alternate) : undefined,
    rest: restOf(terminal, core, isAlternate, link),
  };
}

/** A line as text: each run of cells of one look, its look before it. */
function lineText(
  line: IBufferLine,
  y: number,
  cols: number,
  link: (id: number) => string,
): string {
  let text = y > 0 && line.isWrapped ? "~" : "";
  let before = "";
  let isWide = false;
  // The alternate screen keeps what a smaller size hides; no joiner can be told that.
  for (let x = 0; x < Math.min(cols, line.length); x++) {
    const cell = line.getCell(x) as IBufferCell;
    const look = lookOf(cell, link);
    if (look !== before) text += `{${look}}`;
    before = look;
    // An empty cell looks like a space, and so do half a wide character that lost its other half
    // and what a mark without a letter stands on.
    // A wide character that a smaller size cut in half is one that lost its other half, too.
    const isCut = cell.getWidth() === 2 && x + 1 >= cols;
    const characters = isCut ? "" : cell.getChars();
    const isCovered = cell.getWidth() === 0 && characters === "" && isWide;
    if (!isCovered && /^(?:\p{M}|$)/u.test(characters)) text += " ";
    text += characters;
    isWide = cell.getWidth() === 2 && !isCut;
    if (isWide) text += "›";
  }
  return text;
}

const flags = [
  ...["isBold", "isDim", "isItalic", "isBlink", "isInverse", "isInvisible", "isStrikethrough"],
  "isOverline",
] as const;

function lookOf(cell: Inside, link: (id: number) => string): string {
  const on = flags.filter((flag) => cell[flag]() !== 0).map((flag) => flag.slice(2).toLowerCase());
  const parts = [...on, colour("fg", cell.fg), colour("bg", cell.bg)];
  const isExtended = (cell.bg & 0x10000000) !== 0;
  const own = cell.extended.clone();
  own.urlId = 0;
  if ((cell.fg & 0x10000000) !== 0) {
    parts.push(`underline${isExtended ? own.underlineStyle || 1 : 1}`);
    if (isExtended && own.underlineColor !== 0x3ffffff)
      parts.push(colour("ul", own.underlineColor));
  }
  if ((cell.bg & 0x20000000) !== 0) parts.push("protected");
  if (isExtended && cell.extended.urlId !== 0) parts.push(`link ${link(cell.extended.urlId)}`);
  return parts.filter((part) => part !== "").join(" ");
}

function colour(name: string, word: number): string {
  const mode = (word & 0x3000000) >>> 24;
  // The package's way to say that an underline has the colour of its text.
  if (mode === 0 || (name === "ul" && word === 0x3ffffff)) return "";
  return `${name}${["", "16", "256", "rgb"][mode]}:${(word & (mode === 3 ? 0xffffff : 0xff)).toString(16)}`;
}

function restOf(
  terminal: Terminal,
  core: Inside,
  isAlternate: boolean,
  link: (id: number) => string,
): Record<string, unknown> {
  const input = core._inputHandler;
  const { active, normal } = core.buffers;
  const { rows, cols } = terminal;
  const sets: unknown[] = core._charsetService._charsets;
  const named = (set: Inside) => (set === undefined ? "B" : JSON.stringify(set).slice(0, 60));
  const waiting = (buffer: Inside) => ({
    margins: [buffer.scrollTop, buffer.scrollBottom],
    tabs: Array.from({ length: cols }, (_, x) => x).filter((x) => buffer.tabs[x] === true),
    saved: {
      x: Math.min(buffer.savedX, cols - 1),
      y: Math.min(rows - 1, Math.max(0, buffer.savedY - buffer.ybase)),
      look: lookOf(buffer.savedCurAttrData, link),
      charset: named(buffer.savedCharset),
    },
  });
  const unicodeState = input._parser.precedingJoinState;
  return {
    pen: lookOf(input._curAttrData, link),
    underlineColour: colour("ul", input._curAttrData.extended.underlineColor),
    active: waiting(active),
    normal: isAlternate ? waiting(normal) : undefined,
    modes: { ...terminal.modes, ...core.coreService.decPrivateModes },
    cursorHidden: core.coreService.isCursorHidden,
    cursorBlink: terminal.options.cursorBlink,
    newline: terminal.options.convertEol,
    mouse: [core.coreMouseService.activeProtocol, core.coreMouseService.activeEncoding],
    charset: named(core._charsetService.charset),
    charsets: [0, 1, 2, 3].map((i) => named(sets[i])),
    level: core._charsetService.glevel,
    title: [input._windowTitle, input._iconName],
    titles: [[...input._windowTitleStack], [...input._iconNameStack]],
    parser: input._parser.currentState,
    joins: (unicodeState >> 1) & 3,
    interim: [...input._utf8Decoder.interim],
  };
}
