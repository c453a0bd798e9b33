// A peer for tests that plays by no rules: bytes as they are, reading only when told.

export interface RawPeer {
  write(bytes: string | Uint8Array): void;
  /** Bytes written that the kernel has not taken. */
  unsent(): number;
  /** Closes the writing side only, once everything is written. */
  shutdown(): void;
  destroy(): void;
  pause(): void;
  resume(): void;
  /** What has arrived up to and including the first `\n` that was not yet taken. */
  line(): Promise<string>;
  /** Everything that arrives until the other side ends. */
  rest(): Promise<string>;
}

/** Writes as a slow device would: what the kernel does not take now follows on `drain`. */
export async function rawPeer(path: string): Promise<RawPeer> {
  let text = "";
  let ended = false;
  let shutting = false;
  let backlog = new Uint8Array();
  let wake = () => {};
  const decoder = new TextDecoder();
  const finish = () => {
    ended = true;
    wake();
  };
  const socket = await Bun.connect({
    unix: path,
    allowHalfOpen: true,
    socket: {
      data(_socket, chunk) {
        text += decoder.decode(chunk, { stream: true });
        wake();
      },
      drain(self) {
        const taken = self.write(backlog);
        if (taken > 0) backlog = backlog.slice(taken);
        if (shutting && backlog.length === 0) self.shutdown();
      },
      end: finish,
      close: finish,
      error: finish,
    },
  });
  const changed = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
    });
  return {
    write(bytes) {
      const all = typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes;
      const taken = Math.max(socket.write(all), 0);
      backlog = all.slice(taken);
    },
    unsent: () => backlog.length,
    shutdown() {
      shutting = true;
      if (backlog.length === 0) socket.shutdown();
    },
    destroy: () => socket.terminate(),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    async line() {
      while (!text.includes("\n") && !ended) await changed();
      const end = text.indexOf("\n") + 1;
      const line = text.slice(0, end);
      text = text.slice(end);
      return line;
    },
    async rest() {
      while (!ended) await changed();
      const all = text;
      text = "";
      return all;
    },
  };
}
