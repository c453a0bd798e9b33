// One line from the person: keys to the editor, the editor's wishes to the terminal. While a call of the
// agent runs nothing is read, so that keys wait where the terminal keeps them.

import { onInterrupt } from "../../internal/cli/mod.ts";
import {
  columns,
  complete,
  completionTarget,
  type Editor,
  type Effect,
  edit,
  freshEditor,
  type Key,
  KeyDecoder,
} from "../../internal/shell-line/mod.ts";
import { candidates } from "./candidates.ts";
import type { History } from "./history-file.ts";
import { LineView } from "./line-view.ts";
import type { Terminal } from "./terminal.ts";
import type { ToolPath } from "./tool-path.ts";
import type { Turns } from "./turns.ts";

/** How long the rest of an escape sequence may take, in milliseconds; then the escape is a key. */
const escapeMs = 50;

/** UTF-16 units of text that are edited as one; the next key is for what follows. */
const textUnitsMax = 4096;

/** Names that one listing shows. Past it they are counted. */
const listedMax = 200;

export type Line =
  | { readonly kind: "line"; readonly text: string }
  /** Ctrl-D on an empty line. */
  | { readonly kind: "end" }
  /** The terminal is gone. */
  | { readonly kind: "hangup" };

interface Parts {
  readonly terminal: Terminal;
  readonly turns: Turns;
  readonly history: History;
  readonly path: ToolPath;
}

export class LineReader {
  readonly #parts: Parts;
  readonly #view: LineView;
  readonly #decoder = new KeyDecoder();
  #editor: Editor = freshEditor([]);
  #done: ((line: Line) => void) | undefined;
  #escape: ReturnType<typeof setTimeout> | undefined;
  /** Somebody else prints. */
  #away = false;
  /** Called when a line begins to be read. */
  onRead: () => void = () => {};
  /** Keys that came with the last one that was used. */
  #ahead: Key[] = [];

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#view = new LineView(parts.terminal);
    // A signal from elsewhere: the terminal's own keys do not signal while a line is edited. It stays
    // below all others, since a line can begin to be read while a call runs that Ctrl-C cancels.
    onInterrupt(() => this.#perform({ kind: "abandon" }));
    process.on("SIGIO", () => this.#pump());
    process.on("SIGWINCH", () => {
      if (this.#view.isShown) this.#view.show(this.#editor);
    });
  }

  read(): Promise<Line> {
    const { terminal, history } = this.#parts;
    this.#editor = freshEditor(history.lines, this.#editor.cut);
    const { promise, resolve } = Promise.withResolvers<Line>();
    this.#done = (line) => {
      this.#done = undefined;
      resolve(line);
    };
    if (this.#away) return promise;
    terminal.typing();
    this.#view.show(this.#editor);
    this.onRead();
    this.#pump();
    return promise;
  }

  /** Whether a line is being edited now, so that others can print over it. */
  get isReading(): boolean {
    return this.#done !== undefined;
  }

  /** Takes the line off until `comeBack`; keys wait. */
  stepAside(): void {
    this.#away = true;
    if (this.#view.isShown) this.#view.hide();
    this.#parts.terminal.waiting();
  }

  comeBack(): void {
    this.#away = false;
    if (this.#done === undefined) return;
    this.#parts.terminal.typing();
    this.#view.show(this.#editor);
    this.#pump();
  }

  #pump(): void {
    clearTimeout(this.#escape);
    let changed = false;
    while (this.#done !== undefined && !this.#away) {
      const key = this.#nextKey();
      if (key === "none") break;
      if (key === "end") {
        this.#done({ kind: "hangup" });
        return;
      }
      changed = true;
      this.#take(key);
    }
    if (this.#done === undefined || this.#away) return;
    if (changed) this.#view.show(this.#editor);
    if (!this.#decoder.pending) return;
    this.#escape = setTimeout(() => {
      this.#ahead.push(...this.#decoder.flush());
      this.#pump();
    }, escapeMs);
  }

  /** Text that came together is one key: a line of many characters is edited once. */
  #nextKey(): Key | "none" | "end" {
    let text = "";
    for (;;) {
      const [first] = this.#ahead;
      if (first !== undefined && (first.kind !== "text" || text.length > textUnitsMax)) break;
      if (first?.kind === "text") {
        text += first.text;
        this.#ahead.shift();
        continue;
      }
      const byte = this.#parts.terminal.readKey();
      if (byte === "none" || byte === "end") return text === "" ? byte : { kind: "text", text };
      this.#ahead = this.#decoder.push(Uint8Array.of(byte));
    }
    return text === "" ? (this.#ahead.shift() as Key) : { kind: "text", text };
  }

  #take(key: Key): void {
    const { next, effects } = edit(this.#editor, key);
    this.#editor = next;
    for (const effect of effects) this.#perform(effect);
  }

  #perform(effect: Effect): void {
    const { terminal, history } = this.#parts;
    switch (effect.kind) {
      case "submit":
        this.#settle();
        history.add(effect.text);
        this.#done?.({ kind: "line", text: effect.text });
        return;
      case "end":
        this.#settle();
        this.#done?.({ kind: "end" });
        return;
      case "abandon":
        if (this.#done === undefined || !this.#view.isShown) return;
        this.#settle("^C");
        this.#editor = freshEditor(history.lines, this.#editor.cut);
        this.#view.show(this.#editor);
        return;
      case "clear":
        terminal.write("\x1b[H\x1b[2J");
        this.#view.forget();
        return;
      case "complete":
        this.#complete();
        return;
      case "bell":
        terminal.write("\x07");
    }
  }

  /** Draws the line a last time, its cursor behind it, and leaves it standing. */
  #settle(behind = ""): void {
    const { text } = this.#editor;
    const whole = { ...this.#editor, cursor: text.length, search: undefined };
    this.#view.show(whole);
    this.#parts.terminal.write(behind);
    this.#view.leave();
  }

  #complete(): void {
    const target = completionTarget(this.#editor);
    const names = candidates(this.#parts.path, target);
    const { next, list, found } = complete(this.#editor, target, names);
    this.#editor = next;
    if (!found) this.#parts.terminal.write("\x07");
    if (list.length === 0) return;
    this.#settle();
    const { cols } = this.#parts.terminal.size;
    const rows = columns(list.slice(0, listedMax), cols);
    if (list.length > listedMax) rows.push(`and ${list.length - listedMax} more`);
    this.#parts.terminal.write(rows.map((row) => `${row}\n`).join(""));
  }
}
