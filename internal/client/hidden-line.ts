// What a person types or pastes at a prompt that shows nothing: keys in, a value out. Knows the keys
// that mend a line and the marks that a terminal puts around a paste, within which a line break is part
// of the value and not its end. Pure.

const interruptKey = 0x03;
const endKey = 0x04;
const backspaceKeys: readonly number[] = [0x08, 0x7f];
const tab = 0x09;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
/** Ctrl-U and Ctrl-W: nobody sees where a word of a hidden line begins. */
const eraseKeys: readonly number[] = [0x15, 0x17];
const escapeKey = 0x1b;

const pasteBegins = "\x1b[200~";
const pasteEnds = "\x1b[201~";

/** Bytes of a key's escape sequence. What is longer is none, and is dropped as one. */
const sequenceBytesMax = 32;

export type HiddenState = "typing" | "entered" | "cancelled";

export class HiddenLine {
  readonly #bytesMax: number;
  #bytes: number[] = [];
  #isTooLong = false;
  #isPasting = false;
  /** What may become an escape sequence; "" outside of one. */
  #sequence = "";
  #afterReturn = false;

  /** Past `bytesMax` nothing more is kept, and the value is too long. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Takes what was read. After anything but "typing" the rest of the chunk is not looked at. */
  push(chunk: Uint8Array): HiddenState {
    for (const byte of chunk) {
      const state = this.#isPasting ? this.#paste(byte) : this.#type(byte);
      if (state !== "typing") return state;
    }
    return "typing";
  }

  /** The bytes of the value; undefined when they were too many. */
  get value(): Uint8Array | undefined {
    return this.#isTooLong ? undefined : Uint8Array.from(this.#bytes);
  }

  #type(byte: number): HiddenState {
    if (this.#sequence !== "" && this.#inSequence(byte)) return "typing";
    if (byte === interruptKey) return "cancelled";
    if (byte === endKey || byte === lineFeed || byte === carriageReturn) return "entered";
    if (byte === escapeKey) this.#sequence = "\x1b";
    else if (backspaceKeys.includes(byte)) this.#eraseCharacter();
    else if (eraseKeys.includes(byte)) this.#erase();
    else if (byte >= 0x20 || byte === tab) this.#keep(byte);
    return "typing";
  }

  /** False when the byte is no part of a sequence, and a key of its own: Escape alone was pressed. */
  #inSequence(byte: number): boolean {
    const begun = this.#sequence;
    const character = String.fromCharCode(byte);
    if (begun === "\x1b" && character !== "[" && character !== "O") {
      this.#sequence = "";
      return false;
    }
    this.#sequence += character;
    const isLast = begun !== "\x1b" && byte >= 0x40 && byte <= 0x7e;
    if (!isLast && this.#sequence.length < sequenceBytesMax) return true;
    this.#isPasting = this.#sequence === pasteBegins;
    this.#sequence = "";
    return true;
  }

  #paste(byte: number): HiddenState {
    this.#sequence += String.fromCharCode(byte);
    if (this.#sequence === pasteEnds) {
      this.#sequence = "";
      this.#isPasting = false;
      this.#afterReturn = false;
    } else if (!pasteEnds.startsWith(this.#sequence)) {
      // It is text so far, but an escape that has just come may begin the end.
      const held = byte === escapeKey ? 1 : 0;
      const text = this.#sequence.slice(0, this.#sequence.length - held);
      this.#sequence = this.#sequence.slice(text.length);
      for (const character of text) this.#keepPasted(character.charCodeAt(0));
    }
    return "typing";
  }

  /** Terminals send the line breaks of a paste as Enter. */
  #keepPasted(byte: number): void {
    const isSecondOfTwo = this.#afterReturn && byte === lineFeed;
    this.#afterReturn = byte === carriageReturn;
    if (!isSecondOfTwo) this.#keep(byte === carriageReturn ? lineFeed : byte);
  }

  #keep(byte: number): void {
    if (this.#bytes.length < this.#bytesMax) this.#bytes.push(byte);
    else this.#isTooLong = true;
  }

  #eraseCharacter(): void {
    // Bytes of UTF-8 after a character's first are 0b10xxxxxx.
    while (((this.#bytes.pop() ?? 0) & 0xc0) === 0x80);
  }

  #erase(): void {
    this.#bytes = [];
    this.#isTooLong = false;
  }
}
