// What a terminal shows, kept up to date from the bytes that its child wrote, so that a client who
// joins can be given the screen as it is.

import type { Terminal } from "@xterm/headless";

export interface Snapshot {
  /** Terminal output that makes any terminal of this size show what ours shows. */
  readonly bytes: Uint8Array;
  /** Output was skipped, and the screen has not been drawn anew since. */
  readonly approximate: boolean;
  readonly cols: number;
  readonly rows: number;
}

export interface ScreenOptions {
  readonly cols: number;
  readonly rows: number;
  /** Takes what the screen answers to a query of the child, only while `answering`. */
  readonly answer?: (bytes: Uint8Array) => void;
}

export interface Screen {
  answering: boolean;
  push(bytes: Uint8Array): void;
  resize(cols: number, rows: number): void;
  /** Covers every byte that was pushed before the call, and none that is pushed after it. */
  snapshot(): Promise<Snapshot>;
  close(): void;
}

interface Emulator {
  readonly terminal: Terminal;
  serialize(): string;
}

/** A screen costs nothing until something is pushed; then the emulator's code is loaded. */
export function createScreen(options: ScreenOptions): Screen {
  let { cols, rows } = options;
  let emulator: Promise<Emulator> | undefined;
  const load = () => {
    emulator ??= loadEmulator(cols, rows, (text) => {
      if (screen.answering) options.answer?.(new TextEncoder().encode(text));
    });
    return emulator;
  };
  const screen: Screen = {
    answering: false,
    push(bytes) {
      const copy = bytes.slice();
      void load().then(({ terminal }) => terminal.write(copy));
    },
    resize(newCols, newRows) {
      [cols, rows] = [newCols, newRows];
      void emulator?.then(({ terminal }) => terminal.resize(newCols, newRows));
    },
    async snapshot() {
      const { terminal, serialize } = await load();
      await new Promise<void>((done) => terminal.write("", done));
      const bytes = new TextEncoder().encode(serialize());
      return { bytes, approximate: false, cols: terminal.cols, rows: terminal.rows };
    },
    close() {
      void emulator?.then(({ terminal }) => terminal.dispose());
    },
  };
  return screen;
}

async function loadEmulator(
  cols: number,
  rows: number,
  answer: (text: string) => void,
): Promise<Emulator> {
  const { Terminal } = await import("@xterm/headless");
  const { SerializeAddon } = await import("@xterm/addon-serialize");
  const terminal = new Terminal({ cols, rows, scrollback: 0, allowProposedApi: true });
  const addon = new SerializeAddon();
  // The add-on's types name the browser's terminal; it reads what both have.
  terminal.loadAddon(addon as never);
  terminal.onData(answer);
  return { terminal, serialize: () => addon.serialize() };
}
