// Bytes on their way to one peer. The kernel takes what it can at once; the rest waits here, in
// order, bounded, under a clock that runs only while something waits. Knows nothing of sockets: it
// is given a function that writes.

export interface OutboundOptions {
  /** Writes a part; says how many bytes were taken, or a negative number when the peer is gone. */
  write(bytes: Uint8Array): number;
  /** Called at most once, when the peer must be dropped. */
  onSlow(): void;
  readonly bytesMax: number;
  readonly stallMs: number;
}

export class Outbound {
  #options: OutboundOptions;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #waiters: (() => void)[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastProgressMs = 0;
  #closed = false;

  constructor(options: OutboundOptions) {
    this.#options = options;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Queues a part. The promise, when there is one, resolves when all is written or lost. */
  push(bytes: Uint8Array): Promise<void> | undefined {
    if (this.#closed) return undefined;
    // One part alone always fits: its size was bounded by whoever encoded it.
    if (this.#bytes > 0 && this.#bytes + bytes.length > this.#options.bytesMax) {
      this.#slow();
      return undefined;
    }
    this.#chunks.push(bytes);
    this.#bytes += bytes.length;
    if (this.#chunks.length === 1) this.flush();
    return this.drained();
  }

  /** Undefined when nothing waits. */
  drained(): Promise<void> | undefined {
    if (this.#closed || this.#bytes === 0) return undefined;
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  /** Writes as much as the kernel takes; called again when it says that there is room. */
  flush(): void {
    while (!this.#closed) {
      const chunk = this.#chunks[0];
      if (chunk === undefined) {
        this.#rest();
        return;
      }
      const taken = this.#options.write(chunk);
      if (taken < 0) return;
      if (taken > 0) this.#lastProgressMs = performance.now();
      this.#bytes -= taken;
      if (taken < chunk.length) {
        this.#chunks[0] = chunk.subarray(taken);
        this.#watch();
        return;
      }
      this.#chunks.shift();
    }
  }

  /** Forgets what waits; every waiter is released. */
  close(): void {
    this.#closed = true;
    this.#chunks = [];
    this.#bytes = 0;
    this.#rest();
  }

  #rest(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) waiter();
  }

  #watch(): void {
    if (this.#timer !== undefined) return;
    this.#lastProgressMs = performance.now();
    const check = () => {
      const left = this.#options.stallMs - (performance.now() - this.#lastProgressMs);
      if (left <= 0) this.#slow();
      else this.#timer = setTimeout(check, left);
    };
    this.#timer = setTimeout(check, this.#options.stallMs);
  }

  #slow(): void {
    if (this.#closed) return;
    this.close();
    this.#options.onSlow();
  }
}
