// The part of the emulator that its public interface leaves out and a snapshot needs. The package
// is pinned to one version; `coreOf` says what is missing when another one is put in its place.

import type { Terminal } from "@xterm/headless";

/** What the next character is written with, or a cell was. Bits are in pen.ts. */
export interface Attributes {
  fg: number;
  bg: number;
  extended: Extended;
  updateExtended(): void;
}

export interface Extended {
  underlineStyle: number;
  underlineColor: number;
  urlId: number;
  clone(): Extended;
}

export interface Cell extends Attributes {
  getChars(): string;
  getWidth(): number;
}

export interface Line {
  readonly length: number;
  readonly isWrapped: boolean;
  loadCell(x: number, cell: Cell): Cell;
}

export type Charset = object | undefined;

export interface ScreenBuffer {
  /** Equal to the columns while a character waits to wrap. */
  readonly x: number;
  readonly y: number;
  readonly ybase: number;
  readonly scrollTop: number;
  readonly scrollBottom: number;
  readonly savedX: number;
  readonly savedY: number;
  readonly savedCurAttrData: Attributes;
  readonly savedCharset: Charset;
  readonly tabs: Readonly<Record<number, boolean>>;
  readonly lines: { readonly length: number; get(index: number): Line | undefined };
}

/** Parameters of a control sequence as its handler gets them; may be changed in place. */
export interface Parameters {
  readonly length: number;
  readonly params: number[];
}

interface ControlId {
  prefix?: string;
  intermediates?: string;
  final: string;
}

export interface Core {
  readonly buffers: {
    readonly active: ScreenBuffer;
    readonly normal: ScreenBuffer;
    readonly alt: ScreenBuffer;
  };
  readonly coreService: {
    readonly isCursorHidden: boolean;
    readonly modes: { readonly insertMode: boolean };
    readonly decPrivateModes: {
      readonly applicationCursorKeys: boolean;
      readonly applicationKeypad: boolean;
      readonly bracketedPasteMode: boolean;
      readonly cursorBlink: boolean | undefined;
      readonly cursorStyle: "block" | "underline" | "bar" | undefined;
      readonly origin: boolean;
      readonly reverseWraparound: boolean;
      readonly sendFocus: boolean;
      readonly synchronizedOutput: boolean;
      readonly wraparound: boolean;
    };
  };
  readonly coreMouseService: { readonly activeProtocol: string; readonly activeEncoding: string };
  readonly _charsetService: {
    readonly charset: Charset;
    readonly glevel: number;
    readonly _charsets: readonly Charset[];
  };
  readonly _inputHandler: {
    readonly _curAttrData: Attributes;
    readonly _windowTitle: string;
    readonly _iconName: string;
    readonly _windowTitleStack: readonly string[];
    readonly _iconNameStack: readonly string[];
    /** Bytes of a character whose rest has not come; 0 where there is none. */
    readonly _utf8Decoder: { readonly interim: Uint8Array };
    readonly _parser: {
      readonly currentState: number;
      /** Not 0 right after a character was printed: its width, for marks and repetition. */
      readonly precedingJoinState: number;
      readonly _oscParser: { _active: readonly unknown[] };
      readonly _dcsParser: { _active: readonly unknown[] };
    };
    parse(bytes: Uint8Array): unknown;
  };
  readonly options: { readonly cursorBlink: boolean; readonly convertEol: boolean };
  onLineFeed(listener: () => void): unknown;
  registerCsiHandler(id: ControlId, handler: (parameters: Parameters) => boolean): unknown;
  registerEscHandler(id: ControlId, handler: () => boolean): unknown;
  registerOscHandler(id: number, handler: (data: string) => boolean): unknown;
}

const needed = [
  ...["buffers.active.lines", "buffers.normal.tabs", "buffers.alt.savedCurAttrData.extended"],
  ...["buffers.active.scrollTop", "buffers.active.savedX", "buffers.active.ybase"],
  ...["coreService.modes.insertMode", "coreService.decPrivateModes.wraparound"],
  ...["coreService.isCursorHidden", "coreMouseService.activeProtocol"],
  ...["coreMouseService.activeEncoding", "_charsetService.glevel", "_charsetService._charsets"],
  ...["_inputHandler._curAttrData.fg", "_inputHandler._windowTitle", "_inputHandler._iconName"],
  ...["_inputHandler._windowTitleStack", "_inputHandler._iconNameStack", "_inputHandler.parse"],
  ...["_inputHandler._utf8Decoder.interim", "_inputHandler._parser.currentState"],
  ...["_inputHandler._parser.precedingJoinState", "_inputHandler._parser._oscParser._active"],
  ...["_inputHandler._parser._dcsParser._active", "registerCsiHandler", "registerEscHandler"],
  ...["registerOscHandler", "onLineFeed", "options.cursorBlink", "options.convertEol"],
];

export function coreOf(terminal: Terminal): Core {
  const core: unknown = Reflect.get(terminal, "_core");
  for (const path of needed) {
    let value: unknown = core;
    for (const name of path.split(".")) {
      value = value === undefined ? value : Reflect.get(value as object, name);
    }
    if (value === undefined) throw new Error(`this build of the emulator has no "${path}"`);
  }
  return core as Core;
}
