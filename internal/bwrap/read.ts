// Reading descriptors without blocking the event loop. Each function owns the reading, and says who
// closes the descriptor.

import { closeSync } from "node:fs";

export interface Chunks extends AsyncIterableIterator<Uint8Array, void, undefined> {
  return(): Promise<IteratorResult<Uint8Array, void>>;
}

/**
 * The chunks of a pipe until its end; closes the descriptor then, also when the reader stops early or
 * never begins: a generator that was not begun runs nothing of its own at its return.
 */
export function readChunks(fd: number): Chunks {
  const chunks = generate(fd);
  let begun = false;
  return {
    next() {
      begun = true;
      return chunks.next();
    },
    return() {
      if (!begun) closeSync(fd);
      begun = true;
      return chunks.return();
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

async function* generate(fd: number): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = Bun.file(fd).stream().getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      if (value !== undefined && value.length > 0) yield value;
    }
  } finally {
    await reader.cancel();
    closeSync(fd);
  }
}

export type FirstBytes =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "timeout" | "aborted" };

/** The first text a socket brings, empty at its end. Leaves the descriptor open. */
export async function firstBytes(
  fd: number,
  msMax: number,
  signal: AbortSignal,
): Promise<FirstBytes> {
  const reader = Bun.file(fd).stream().getReader();
  const stopped = Promise.withResolvers<FirstBytes>();
  const timer = setTimeout(() => stopped.resolve({ kind: "timeout" }), msMax);
  const abort = () => stopped.resolve({ kind: "aborted" });
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort);
  try {
    const first = reader
      .read()
      .then(({ value }): FirstBytes => ({ kind: "text", text: new TextDecoder().decode(value) }));
    return await Promise.race([first, stopped.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
    await reader.cancel();
  }
}

/** The text of a stream to its end, cut after about `bytesMax`. */
export async function firstText(
  stream: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    if (text.length < bytesMax) text += decoder.decode(chunk, { stream: true });
  }
  return text.trim();
}
