// The bounded tail of a session that the next prompt may see: whole turns, a turn being one run
// with its input. It is kept up to date record by record, so that no prompt reads the log. No I/O.

import type { StoredRecord } from "../session-log/mod.ts";
import { historyBytesMax, shortenedTextLength } from "./bounds.ts";
import type { HistoryItem } from "./types.ts";
import { tshObject } from "./words.ts";

interface Turn {
  readonly run: string;
  items: HistoryItem[];
  bytes: number;
  started: boolean;
  done: boolean;
}

export class HistoryTail {
  #turns: Turn[] = [];
  #bytes = 0;

  add({ event, message }: StoredRecord): void {
    const { run } = event;
    if (run === undefined) return;
    if (event.type === "request.accepted") {
      // What a client had the tool shell do is nobody's turn in the conversation.
      if (event.object === tshObject) return;
      this.#turns.push({ run, items: [], bytes: 0, started: false, done: false });
      return;
    }
    const turn = this.#turns.findLast((one) => one.run === run);
    if (turn === undefined) return;
    if (event.type === "run.start") turn.started = true;
    if (event.type === "run.done") this.#finish(turn);
    const item = itemOf({ event, message }, run);
    if (item !== undefined) this.#push(turn, item);
  }

  /** What came before `run`, oldest first, at most `historyBytesMax`. */
  before(run: string): readonly HistoryItem[] {
    const at = this.#turns.findIndex((one) => one.run === run);
    const earlier = at < 0 ? this.#turns : this.#turns.slice(0, at);
    return earlier.filter((one) => one.done).flatMap((one) => one.items);
  }

  get bytes(): number {
    return this.#bytes;
  }

  #finish(turn: Turn): void {
    turn.done = true;
    // An input that never ran was not part of the conversation.
    if (!turn.started) this.#remove(turn);
  }

  #remove(turn: Turn): void {
    this.#turns = this.#turns.filter((one) => one !== turn);
    this.#bytes -= turn.bytes;
  }

  #push(turn: Turn, item: HistoryItem): void {
    const bytes = sizeOf(item);
    turn.items.push(item);
    turn.bytes += bytes;
    this.#bytes += bytes;
    if (turn.bytes > historyBytesMax) this.#shorten(turn);
    while (this.#bytes > historyBytesMax) {
      const oldest = this.#turns.find((one) => one.done && one !== turn);
      if (oldest === undefined) return;
      this.#remove(oldest);
    }
  }

  /** A turn that fills the history alone keeps its newest items whole and its older ones cut. */
  #shorten(turn: Turn): void {
    for (let index = 0; index < turn.items.length && turn.bytes > historyBytesMax; index++) {
      const item = turn.items[index] as HistoryItem;
      const shorter = shortened(item);
      const saved = sizeOf(item) - sizeOf(shorter);
      if (saved <= 0) continue;
      turn.items[index] = shorter;
      turn.bytes -= saved;
      this.#bytes -= saved;
    }
  }
}

function itemOf({ event, message }: StoredRecord, run: string): HistoryItem | undefined {
  const name = (event.object ?? "").replace(/^tool\//, "");
  switch (event.type) {
    case "message": {
      const text = message?.content.map((part) => part.text).join("") ?? "";
      return { kind: event.role ?? "user", run, text };
    }
    case "tool.call": {
      const args = event.args ?? { args_digest: event.args_digest };
      return { kind: "tool_call", run, call: event.call ?? "", name, args };
    }
    case "tool.result":
      return {
        kind: "tool_result",
        run,
        call: event.call ?? "",
        name,
        status: event.status === "ok" ? "ok" : "error",
        content: event.content ?? "",
      };
    default:
      return undefined;
  }
}

function sizeOf(item: HistoryItem): number {
  // UTF-16 units, at most three bytes each in UTF-8; close enough for a bound on memory.
  if (item.kind === "tool_call") return JSON.stringify(item.args).length + item.name.length;
  return item.kind === "tool_result" ? item.content.length : item.text.length;
}

function shortened(item: HistoryItem): HistoryItem {
  const cut = (text: string) =>
    text.length <= shortenedTextLength
      ? text
      : `${text.slice(0, shortenedTextLength).replace(/[\ud800-\udbff]$/, "")} […]`;
  switch (item.kind) {
    case "tool_call": {
      const text = JSON.stringify(item.args);
      return text.length <= shortenedTextLength
        ? item
        : { ...item, args: { shortened: cut(text) } };
    }
    case "tool_result":
      return { ...item, content: cut(item.content) };
    default:
      return { ...item, text: cut(item.text) };
  }
}
