// Bytes of a keyboard to keys: UTF-8 that comes in pieces, the escape sequences of terminals, and text
// that was pasted between the marks of bracketed paste, which is text whatever is in it.

export type Key =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "paste"; readonly text: string; readonly cut: boolean }
  | { readonly kind: "key"; readonly name: KeyName };

export type KeyName =
  | "enter"
  | "tab"
  | "back-tab"
  | "backspace"
  | "delete"
  | "left"
  | "right"
  | "up"
  | "down"
  | "home"
  | "end"
  | "word-left"
  | "word-right"
  | "page-up"
  | "page-down"
  | "escape"
  | "unknown"
  | `ctrl-${string}`
  | `alt-${string}`;

/** Bytes of one paste that are kept. Past it the rest of the paste is thrown away. */
export const pasteBytesMax = 256 * 1024;

/** Bytes of one escape sequence. What is longer is no sequence and is thrown away. */
const sequenceBytesMax = 64;

const pasteEnd = "\x1b[201~";

const finals: Readonly<Record<string, KeyName>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  F: "end",
  H: "home",
  Z: "back-tab",
};

const tildes: Readonly<Record<string, KeyName>> = {
  "1": "home",
  "3": "delete",
  "4": "end",
  "5": "page-up",
  "6": "page-down",
  "7": "home",
  "8": "end",
};

export class KeyDecoder {
  // One byte is one character here: sequences are ASCII, and text is decoded when it is whole.
  #waiting = "";
  #paste: string[] | undefined;
  #pasted = 0;

  /** Whether an escape was read that may be a key of its own: `flush` decides so. */
  get pending(): boolean {
    return this.#paste === undefined && this.#waiting.startsWith("\x1b");
  }

  get pasting(): boolean {
    return this.#paste !== undefined;
  }

  push(bytes: Uint8Array): Key[] {
    let text = this.#waiting;
    for (const byte of bytes) text += String.fromCharCode(byte);
    this.#waiting = "";
    const keys: Key[] = [];
    while (text !== "") {
      const rest = this.#paste === undefined ? this.#one(text, keys) : this.#pastePart(text, keys);
      if (rest === undefined) break;
      text = rest;
    }
    return keys;
  }

  /** No more came in the time in which a sequence comes whole: what waits is keys by itself. */
  flush(): Key[] {
    const waiting = this.#waiting;
    if (!this.pending) return [];
    this.#waiting = "";
    if (waiting === "\x1b") return [{ kind: "key", name: "escape" }];
    return [{ kind: "key", name: "unknown" }];
  }

  /** Takes one key off the front and gives the rest; undefined when all of it waits for more. */
  #one(text: string, keys: Key[]): string | undefined {
    const first = text.charCodeAt(0);
    if (first === 0x1b) return this.#escape(text, keys);
    if (first < 0x20 || first === 0x7f) {
      keys.push({ kind: "key", name: controlName(first) });
      return text.slice(1);
    }
    if (first < 0x80) {
      const run = /^[\x20-\x7e]+/.exec(text)?.[0] ?? "";
      keys.push({ kind: "text", text: run });
      return text.slice(run.length);
    }
    const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
    const whole = /^[\x80-\xff][\x80-\xbf]*/.exec(text.slice(0, length))?.[0] ?? "";
    if (whole.length < length && whole.length === text.length) return this.#wait(text);
    keys.push({ kind: "text", text: utf8(whole) });
    return text.slice(whole.length);
  }

  #escape(text: string, keys: Key[]): string | undefined {
    if (text.length === 1) return this.#wait(text);
    const control = /^\x1b(?:\[([0-9;:<=>?]*)([ -/]*)([@-~])|O([@-~]))/.exec(text);
    if (control !== null) {
      const [whole, parameters = "", , final = "", single] = control;
      const rest = text.slice(whole.length);
      if (final === "~" && parameters === "200") {
        this.#paste = [];
        this.#pasted = 0;
        return rest;
      }
      const name = single === undefined ? sequenceName(parameters, final) : finals[single];
      keys.push({ kind: "key", name: name ?? "unknown" });
      return rest;
    }
    if (/^\x1b(?:\[[0-9;:<=>?]*[ -/]*|O)$/.test(text)) {
      return text.length < sequenceBytesMax ? this.#wait(text) : "";
    }
    if (text[1] === "[" || text[1] === "O") {
      keys.push({ kind: "key", name: "unknown" });
      return text.slice(2);
    }
    if (text[1] === "\x1b") {
      keys.push({ kind: "key", name: "escape" });
      return text.slice(1);
    }
    const code = text.charCodeAt(1);
    if (code === 0x7f || code === 0x08) keys.push({ kind: "key", name: "alt-backspace" });
    else if (code > 0x20 && code < 0x7f) keys.push({ kind: "key", name: `alt-${text[1]}` });
    else keys.push({ kind: "key", name: "escape" });
    return code >= 0x80 || (code < 0x20 && code !== 0x08) ? text.slice(1) : text.slice(2);
  }

  #pastePart(text: string, keys: Key[]): string | undefined {
    const end = text.indexOf(pasteEnd);
    if (end < 0) {
      // The end mark may come in pieces, so as much as may be the start of it stays behind.
      const split = /\x1b(?:\[(?:2(?:0(?:1)?)?)?)?$/.exec(text)?.index ?? text.length;
      this.#keep(text.slice(0, split));
      return this.#wait(text.slice(split));
    }
    this.#keep(text.slice(0, end));
    keys.push({
      kind: "paste",
      text: utf8((this.#paste ?? []).join("")),
      cut: this.#pasted > pasteBytesMax,
    });
    this.#paste = undefined;
    return text.slice(end + pasteEnd.length);
  }

  #keep(part: string): void {
    const room = Math.max(0, pasteBytesMax - this.#pasted);
    if (room > 0) this.#paste?.push(part.slice(0, room));
    this.#pasted += part.length;
  }

  #wait(text: string): undefined {
    this.#waiting = text;
    return undefined;
  }
}

function controlName(code: number): KeyName {
  if (code === 0x0d || code === 0x0a) return "enter";
  if (code === 0x09) return "tab";
  if (code === 0x7f || code === 0x08) return "backspace";
  return `ctrl-${String.fromCharCode(code + 0x60)}`;
}

/** Modifiers are 1 + shift 1, alt 2, control 4; alt and control move by words. */
function sequenceName(parameters: string, final: string): KeyName | undefined {
  const [first = "", modifier = "1"] = parameters.split(";");
  if (final === "~") return tildes[first];
  const byWord = ((Number(modifier) - 1) & 6) !== 0;
  if (byWord && final === "D") return "word-left";
  if (byWord && final === "C") return "word-right";
  return finals[final];
}

const decoder = new TextDecoder();

/** Each character of `bytes` is one byte. What is not UTF-8 becomes U+FFFD. */
function utf8(bytes: string): string {
  return decoder.decode(Uint8Array.from(bytes, (character) => character.charCodeAt(0)));
}
