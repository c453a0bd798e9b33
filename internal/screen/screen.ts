// What a terminal shows, kept up to date from the bytes that its child wrote, so that a client who
// joins can be given the screen as it is. Following the output must never slow it: parsing is done
// in slices of a bounded share of the time, and in a flood not at all until somebody asks.

import { Backlog } from "./backlog.ts";
import type { Emulator } from "./emulator.ts";
import {
  backlogBytesMax,
  calmBytesPerSecond,
  clampSize,
  earlyBytesMax,
  floodLookMs,
  parseBurstMs,
  parseDebtMs,
  parseShare,
  parseSliceBytes,
} from "./limits.ts";

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
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

export interface Screen {
  /** Whether queries of the child are answered; nobody else's terminal must do it then. */
  answering: boolean;
  /** Takes output; copies it and returns. */
  push(bytes: Uint8Array): void;
  resize(cols: number, rows: number): void;
  /** Covers every byte that was pushed before the call, and none that is pushed after it. */
  snapshot(): Promise<Snapshot>;
  close(): void;
}

/** A screen costs nothing until something is pushed; then the emulator's code is loaded. */
export function createScreen(options: ScreenOptions): Screen {
  return new FollowedScreen(options);
}

interface Size {
  readonly cols: number;
  readonly rows: number;
}

/** What happened before the emulator was loaded, in its order. */
type Early = Uint8Array | Size | ((emulator: Emulator) => void);

class FollowedScreen implements Screen {
  readonly #answer: ScreenOptions["answer"];
  readonly #now: () => number;
  readonly #backlog = new Backlog();
  #size: Size;
  #isAnswering = false;
  #emulator: Emulator | undefined;
  #loading: Promise<void> | undefined;
  #early: Early[] = [];
  #earlyBytes = 0;
  #isEarlyLost = false;
  #isClosed = false;
  /** Milliseconds that may be spent on parsing now, and when that was reckoned. */
  #allowance = parseBurstMs;
  #reckonedAt: number;
  #isFlooded = false;
  /** Bytes that came since the last look at a flood. */
  #arrived = 0;
  #isTurnComing = false;
  #last: Snapshot | undefined;

  constructor(options: ScreenOptions) {
    this.#size = clampSize(options.cols, options.rows);
    this.#answer = options.answer;
    this.#now = options.now ?? (() => performance.now());
    this.#reckonedAt = this.#now();
  }

  get answering(): boolean {
    return this.#isAnswering;
  }

  set answering(answers: boolean) {
    // What came before is for whoever answered until now.
    if (answers !== this.#isAnswering && !this.#isFlooded) this.#parseAll();
    this.#isAnswering = answers;
  }

  push(bytes: Uint8Array): void {
    if (this.#isClosed || bytes.length === 0) return;
    if (this.#emulator === undefined) {
      this.#keepEarly(bytes);
      return;
    }
    this.#last = undefined;
    this.#backlog.push(bytes);
    if (this.#backlog.isOverrun && !this.#isFlooded) {
      this.#isFlooded = true;
      this.#arrived = 0;
    }
    this.#arrived += bytes.length;
    this.#schedule();
  }

  resize(cols: number, rows: number): void {
    const size = clampSize(cols, rows);
    if (size.cols === this.#size.cols && size.rows === this.#size.rows) return;
    this.#size = size;
    if (this.#emulator === undefined) {
      this.#early.push(size);
      return;
    }
    this.#last = undefined;
    // In a flood the picture is a guess already, and parsing for every size would be slow.
    if (!this.#isFlooded) this.#parseAll();
    this.#emulator.resize(size.cols, size.rows);
  }

  snapshot(): Promise<Snapshot> {
    if (this.#isClosed) return Promise.reject(new Error("the screen is closed"));
    if (this.#emulator !== undefined) return Promise.resolve(this.#take(this.#emulator));
    const taken = Promise.withResolvers<Snapshot>();
    this.#early.push((emulator) => taken.resolve(this.#take(emulator)));
    this.#load().catch(taken.reject);
    return taken.promise;
  }

  close(): void {
    this.#isClosed = true;
    this.#emulator?.close();
  }

  #take(emulator: Emulator): Snapshot {
    this.#parseAll();
    this.#last ??= {
      bytes: emulator.snapshot(),
      approximate: emulator.isApproximate,
      cols: emulator.cols,
      rows: emulator.rows,
    };
    return this.#last;
  }

  #keepEarly(bytes: Uint8Array): void {
    // Not `slice`: of a Buffer that is a view of the caller's memory.
    this.#early.push(new Uint8Array(bytes));
    this.#earlyBytes += bytes.length;
    while (this.#earlyBytes > earlyBytesMax) {
      const oldest = this.#early.findIndex((happened) => happened instanceof Uint8Array);
      const [gone] = this.#early.splice(oldest, 1);
      this.#earlyBytes -= (gone as Uint8Array).length;
      this.#isEarlyLost = true;
    }
    // The code is loaded when the program that called us has had its turn.
    this.#load().catch(() => this.close());
  }

  #load(): Promise<void> {
    const { cols, rows } = this.#size;
    this.#loading ??= import("./emulator.ts").then(async ({ loadEmulator }) => {
      const answer = (text: string) => {
        if (this.#isAnswering) this.#answer?.(Buffer.from(text));
      };
      this.#begin(await loadEmulator({ cols, rows, answer }));
    });
    return this.#loading;
  }

  /** Does what happened meanwhile, in its order. */
  #begin(emulator: Emulator): void {
    const early = this.#early;
    this.#early = [];
    this.#emulator = emulator;
    if (this.#isEarlyLost) emulator.doubt();
    for (const happened of early) {
      if (happened instanceof Uint8Array) this.push(happened);
      else if (typeof happened === "function") happened(emulator);
      else {
        if (!this.#isFlooded) this.#parseAll();
        emulator.resize(happened.cols, happened.rows);
      }
    }
    if (this.#isClosed) emulator.close();
  }

  #schedule(): void {
    if (this.#isTurnComing || this.#isClosed) return;
    this.#isTurnComing = true;
    if (!this.#isFlooded && this.#reckon() > 0) setImmediate(() => this.#takeTurn());
    else setTimeout(() => this.#takeTurn(), floodLookMs).unref();
  }

  #takeTurn(): void {
    this.#isTurnComing = false;
    if (this.#isClosed || this.#emulator === undefined) return;
    if (this.#isFlooded) {
      const isQuiet = this.#arrived < (calmBytesPerSecond * floodLookMs) / 1000;
      const isCalm = isQuiet && this.#reckon() > 0;
      this.#arrived = 0;
      if (isCalm) this.#parseAll();
      this.#isFlooded = !isCalm;
    } else if (this.#reckon() > 0) {
      this.#parse(this.#emulator, this.#backlog.take(parseSliceBytes));
    }
    if (this.#isFlooded || this.#backlog.length > 0) this.#schedule();
  }

  /** What may be spent without taking more than our share of the time. */
  #reckon(): number {
    const now = this.#now();
    const earned = (now - this.#reckonedAt) * parseShare;
    this.#allowance = Math.min(parseBurstMs, Math.max(-parseDebtMs, this.#allowance) + earned);
    this.#reckonedAt = now;
    return this.#allowance;
  }

  /** Brings the picture up to date; in a flood with the newest output alone. */
  #parseAll(): void {
    const emulator = this.#emulator;
    if (emulator === undefined) return;
    const instead = this.#backlog.skip();
    if (instead !== undefined) {
      emulator.feed(instead);
      emulator.doubt();
    }
    while (this.#backlog.length > 0) this.#parse(emulator, this.#backlog.take(backlogBytesMax));
  }

  #parse(emulator: Emulator, slice: Uint8Array): void {
    const begun = this.#now();
    emulator.feed(slice);
    this.#allowance -= this.#now() - begun;
  }
}
