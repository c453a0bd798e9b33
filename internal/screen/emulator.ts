// The one owner of the emulator: fed with slices of output, it can say at any time what a joiner has
// to be told. It never throws for what a program wrote, and never takes long for a few bytes.

import type { Terminal } from "@xterm/headless";
import { Extras } from "./extras.ts";
import { type Cell, type Charset, type Core, coreOf, type Parameters } from "./internals.ts";
import { clampSize, titleCharactersMax } from "./limits.ts";
import { Links } from "./links.ts";
import { takeSnapshot } from "./snapshot.ts";
import { Unfinished } from "./unfinished.ts";
import { widthProvider } from "./widths.ts";

export interface EmulatorOptions {
  readonly cols: number;
  readonly rows: number;
  readonly answer: (text: string) => void;
}

/** Loads the emulator's code, which costs a start about 20 ms and 13 MB, and makes one. */
export async function loadEmulator(options: EmulatorOptions): Promise<Emulator> {
  const { Terminal } = await import("@xterm/headless");
  const terminal = new Terminal({
    ...clampSize(options.cols, options.rows),
    scrollback: 0,
    allowProposedApi: true,
    logLevel: "off",
    windowOptions: { pushTitle: true, popTitle: true, getWinSizeChars: true },
  });
  terminal.onData(options.answer);
  return new Emulator(terminal);
}

export class Emulator {
  readonly #terminal: Terminal;
  readonly #core: Core;
  readonly #cell: Cell;
  readonly #links: Links;
  readonly #extras: Extras;
  readonly #charsets: ReadonlyMap<Charset, string>;
  readonly #unfinished: Unfinished;
  /** What each screen shows may not be what was written. */
  readonly #isDoubtful = { normal: false, alt: false };
  /** Lines that scrolled by since output was skipped. */
  #scrolled = 0;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    const core = coreOf(terminal);
    this.#core = core;
    // The cell of the public interface; inside it is the same object with its attributes.
    this.#cell = terminal.buffer.active.getNullCell() as unknown as Cell;
    const provider = widthProvider(core, terminal.buffer.active.getNullCell() as unknown as Cell);
    terminal.unicode.register(provider as never);
    terminal.unicode.activeVersion = provider.version;
    this.#charsets = knownCharsets(core);
    this.#links = new Links(core, this.#cell);
    this.#extras = new Extras(core);
    this.#unfinished = new Unfinished(core);
    this.#boundRepetitions();
    this.#boundTitles();
    this.#watchRedraws();
  }

  get cols(): number {
    return this.#terminal.cols;
  }

  get rows(): number {
    return this.#terminal.rows;
  }

  get isApproximate(): boolean {
    const { active, alt } = this.#core.buffers;
    return this.#isDoubtful.normal || (active === alt && this.#isDoubtful.alt);
  }

  feed(slice: Uint8Array): void {
    try {
      this.#core._inputHandler.parse(slice);
    } catch {
      // A fault of the emulator costs the picture, never the terminal.
      this.doubt();
      this.#terminal.reset();
    }
    this.#unfinished.follow(slice);
  }

  /** Output was lost: until all is drawn anew, the picture is a guess. */
  doubt(): void {
    this.#isDoubtful.normal = true;
    this.#isDoubtful.alt = true;
    this.#scrolled = 0;
  }

  resize(cols: number, rows: number): void {
    const size = clampSize(cols, rows);
    this.#terminal.resize(size.cols, size.rows);
  }

  snapshot(): Uint8Array {
    return takeSnapshot({
      core: this.#core,
      cell: this.#cell,
      grid: this,
      links: this.#links,
      extras: this.#extras,
      charsets: this.#charsets,
      unfinished: this.#unfinished.tail(),
    });
  }

  close(): void {
    this.#terminal.dispose();
  }

  /** The emulator does these one by one, as often as it is told: two thousand million times. */
  #boundRepetitions(): void {
    const bound = (max: () => number) => (parameters: Parameters) => {
      const count = parameters.params[0] ?? 0;
      if (count > max()) parameters.params[0] = max();
      return false;
    };
    const lines = bound(() => this.rows);
    const columns = bound(() => this.cols);
    for (const final of "STLM") this.#core.registerCsiHandler({ final }, lines);
    for (const final of "IZ@PX") this.#core.registerCsiHandler({ final }, columns);
    for (const final of "@A") this.#core.registerCsiHandler({ intermediates: " ", final }, columns);
    for (const final of "}~") this.#core.registerCsiHandler({ intermediates: "'", final }, columns);
    this.#core.registerCsiHandler({ final: "b" }, ({ params }) => {
      const width = (this.#core._inputHandler._parser.precedingJoinState >>> 1) & 3;
      const inLine = Math.max(1, Math.floor(this.cols / Math.max(1, width)));
      const inScreen = inLine * (this.rows + 1);
      // Past a whole screen only the place in the line still changes.
      const beyond = (params[0] ?? 0) - inScreen;
      if (beyond > 0) params[0] = inScreen + (beyond % inLine);
      return false;
    });
  }

  #boundTitles(): void {
    for (const id of [0, 1, 2]) {
      this.#core.registerOscHandler(id, (title) => title.length > titleCharactersMax);
    }
  }

  #watchRedraws(): void {
    const drawn = () => {
      const { active, alt } = this.#core.buffers;
      this.#isDoubtful[active === alt ? "alt" : "normal"] = false;
    };
    this.#core.registerCsiHandler({ final: "J" }, ({ params }) => {
      if (params[0] === 2) drawn();
      return false;
    });
    this.#core.registerEscHandler({ final: "c" }, () => {
      this.#isDoubtful.normal = false;
      this.#isDoubtful.alt = false;
      return false;
    });
    this.#core.registerCsiHandler({ prefix: "?", final: "h" }, ({ length, params }) => {
      // Entered anew, the alternate screen is empty.
      const enters = params.slice(0, length).some((mode) => [47, 1047, 1049].includes(mode));
      if (enters && this.#core.buffers.active === this.#core.buffers.normal) {
        this.#isDoubtful.alt = false;
      }
      return false;
    });
    this.#core.onLineFeed(() => {
      if (!this.isApproximate) return;
      const { scrollTop, scrollBottom, y } = this.#core.buffers.active;
      if (scrollTop !== 0 || scrollBottom !== this.rows - 1 || y !== scrollBottom) return;
      this.#scrolled += 1;
      if (this.#scrolled > this.rows) drawn();
    });
  }
}

/** The letters of the character sets, found by designating each. */
function knownCharsets(core: Core): ReadonlyMap<Charset, string> {
  const charsets = new Map<Charset, string>();
  for (const letter of "B0A45RQKYE6ZH7=") {
    core._inputHandler.parse(Buffer.from(`\x1b(${letter}`));
    const charset = core._charsetService._charsets[0];
    if (!charsets.has(charset)) charsets.set(charset, letter);
  }
  core._inputHandler.parse(Buffer.from("\x1b(B"));
  return charsets;
}
