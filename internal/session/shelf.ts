// Things that are expensive to open and are shared while they are open: opened once however many
// ask, closed after a time without use, opened again only after the close has finished.

import { CodedError } from "../abi/mod.ts";

export interface Closable {
  /** Its files were removed or replaced and nothing uses it: `take` opens it anew. */
  readonly misplaced: boolean;
  close(): Promise<void>;
}

interface Slot<T> {
  readonly opening: Promise<T>;
  value: T | undefined;
  closing: Promise<void> | undefined;
  timer: ReturnType<typeof setTimeout> | undefined;
}

export class Shelf<T extends Closable> {
  readonly #slots = new Map<string, Slot<T>>();
  readonly #idleMs: number;
  readonly #unused: (value: T) => boolean;
  #over = false;

  /** `unused` says whether a thing may be closed now. */
  constructor(idleMs: number, unused: (value: T) => boolean) {
    this.#idleMs = idleMs;
    this.#unused = unused;
  }

  /** The open thing. The caller pins it before it awaits anything, and settles it afterwards. */
  async take(key: string, open: () => Promise<T>): Promise<T> {
    for (;;) {
      if (this.#over) throw new CodedError("EHOSTDOWN", "the service is stopping");
      const slot = this.#slots.get(key) ?? this.#open(key, open);
      if (slot.closing === undefined) {
        const value = await slot.opening;
        if (slot.closing === undefined) {
          if (!value.misplaced) return value;
          this.discard(key);
        }
      }
      await slot.closing;
    }
  }

  /** What is open under this key, without opening it. */
  peek(key: string): T | undefined {
    return this.#slots.get(key)?.value;
  }

  /** Everything that is open, also what is closing. */
  opened(): T[] {
    return [...this.#slots.values()].flatMap(({ value }) => (value === undefined ? [] : [value]));
  }

  /** Its use may be over: if so, the time to its close begins; if not, that time is forgotten. */
  settle(key: string): void {
    const slot = this.#slots.get(key);
    if (slot?.value === undefined || slot.closing !== undefined) return;
    clearTimeout(slot.timer);
    slot.timer = undefined;
    if (!this.#unused(slot.value)) return;
    slot.timer = setTimeout(() => {
      if (slot.value !== undefined && this.#unused(slot.value)) this.#close(key, slot);
      else this.settle(key);
    }, this.#idleMs);
    slot.timer.unref?.();
  }

  /** Closes it whatever its use, so that the next `take` opens it anew. */
  discard(key: string): void {
    const slot = this.#slots.get(key);
    if (slot !== undefined) this.#close(key, slot);
  }

  async close(): Promise<void> {
    this.#over = true;
    const slots = [...this.#slots];
    await Promise.all(slots.map(([key, slot]) => this.#close(key, slot)));
  }

  #open(key: string, open: () => Promise<T>): Slot<T> {
    const slot: Slot<T> = {
      opening: open(),
      value: undefined,
      closing: undefined,
      timer: undefined,
    };
    this.#slots.set(key, slot);
    slot.opening.then(
      (value) => {
        slot.value = value;
        this.settle(key);
      },
      () => {
        if (this.#slots.get(key) === slot) this.#slots.delete(key);
      },
    );
    return slot;
  }

  #close(key: string, slot: Slot<T>): Promise<void> {
    clearTimeout(slot.timer);
    slot.closing ??= slot.opening
      .then(
        (value) => value.close(),
        () => undefined,
      )
      .finally(() => {
        if (this.#slots.get(key) === slot) this.#slots.delete(key);
      });
    return slot.closing;
  }
}
