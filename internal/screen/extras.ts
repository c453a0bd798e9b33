// What a program asked of its terminal that the emulator does not keep, because it changes nothing
// on a screen without colours or keys: the palette, the keyboard's encodings, a few modes. A joiner's
// terminal has both, so it is told.

import type { Core } from "./internals.ts";
import { keyboardStackMax, paletteEntriesMax } from "./limits.ts";

/** Modes that a terminal may be left in without harm and that the emulator does not know. */
const toldModes = new Set([
  5, // reverse screen
  1005, // mouse positions as UTF-8
  1007, // the wheel sends arrow keys on the alternate screen
  1015, // mouse positions as decimal numbers
  1036, // alt sends escape
  1039,
  2031, // changes of the colour scheme are reported
]);

const colourTextMax = 64;

export class Extras {
  readonly #core: Core;
  /** `4;1` → a colour, for OSC 4, and `11` → a colour, for OSC 10 to 12. */
  readonly #palette = new Map<string, string>();
  readonly #modes = new Set<number>();
  /** The encoding of modified keys (CSI > 4 ; Ps m). */
  #modifiedKeys = 0;
  /** Flags pushed by CSI > flags u, of each screen. */
  #keyboard = { normal: [] as number[], alt: [] as number[] };

  constructor(core: Core) {
    this.#core = core;
    this.#hearPalette();
    this.#hearModes();
    this.#hearKeyboard();
    core.registerEscHandler({ final: "c" }, () => {
      this.#palette.clear();
      this.#modes.clear();
      this.#modifiedKeys = 0;
      this.#keyboard = { normal: [], alt: [] };
      return false;
    });
  }

  /** What makes a terminal like this one, of all that belongs to no screen. */
  text(): string {
    let text = "";
    for (const [name, colour] of this.#palette) text += `\x1b]${name};${colour}\x1b\\`;
    for (const mode of this.#modes) text += `\x1b[?${mode}h`;
    if (this.#modifiedKeys > 0) text += `\x1b[>4;${this.#modifiedKeys}m`;
    return text;
  }

  keyboardText(screen: "normal" | "alt"): string {
    return this.#keyboard[screen].map((flags) => `\x1b[>${flags}u`).join("");
  }

  #hearPalette(): void {
    const set = (name: string, colour: string | undefined) => {
      if (colour === undefined || colour === "?" || colour.length > colourTextMax) return;
      if (!/^[\w#:/.,%-]+$/.test(colour)) return;
      if (this.#palette.size < paletteEntriesMax) this.#palette.set(name, colour);
    };
    this.#core.registerOscHandler(4, (data) => {
      const parts = data.split(";");
      for (let i = 0; i + 1 < parts.length; i += 2) {
        if (/^\d{1,3}$/.test(parts[i] ?? "")) set(`4;${Number(parts[i])}`, parts[i + 1]);
      }
      return false;
    });
    this.#core.registerOscHandler(104, (data) => {
      const names = data === "" ? this.#palette.keys() : data.split(";").map((n) => `4;${n}`);
      for (const name of [...names]) if (name.startsWith("4;")) this.#palette.delete(name);
      return false;
    });
    for (const name of [10, 11, 12]) {
      this.#core.registerOscHandler(name, (data) => {
        for (const [i, part] of data.split(";").entries()) {
          if (name + i <= 12) set(String(name + i), part);
        }
        return false;
      });
      this.#core.registerOscHandler(name + 100, () => {
        this.#palette.delete(String(name));
        return false;
      });
    }
  }

  #hearModes(): void {
    for (const final of ["h", "l"]) {
      this.#core.registerCsiHandler({ prefix: "?", final }, ({ length, params }) => {
        for (const mode of params.slice(0, length)) {
          if (final === "l") this.#modes.delete(mode);
          else if (toldModes.has(mode)) this.#modes.add(mode);
        }
        return false;
      });
    }
  }

  #hearKeyboard(): void {
    const stack = () => {
      const { active, alt } = this.#core.buffers;
      return active === alt ? this.#keyboard.alt : this.#keyboard.normal;
    };
    this.#core.registerCsiHandler({ prefix: ">", final: "m" }, ({ length, params }) => {
      if (params[0] === 4) this.#modifiedKeys = length > 1 ? (params[1] ?? 0) & 3 : 0;
      return true;
    });
    this.#core.registerCsiHandler({ prefix: ">", final: "u" }, ({ params }) => {
      const flags = stack();
      flags.push((params[0] ?? 0) & 31);
      if (flags.length > keyboardStackMax) flags.shift();
      return true;
    });
    this.#core.registerCsiHandler({ prefix: "<", final: "u" }, ({ params }) => {
      const flags = stack();
      flags.length = Math.max(0, flags.length - Math.max(1, params[0] ?? 1));
      return true;
    });
    this.#core.registerCsiHandler({ prefix: "=", final: "u" }, ({ length, params }) => {
      const flags = stack();
      const [given = 0, how = 1] = params.slice(0, length);
      const now = flags.pop() ?? 0;
      flags.push((how === 2 ? now | given : how === 3 ? now & ~given : given) & 31);
      return true;
    });
  }
}
