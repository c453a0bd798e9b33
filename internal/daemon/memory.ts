// Keeps the server small, in two ways. It gives memory back after work: the runtime decides when to
// collect by the size of its own heap, and most of what a run leaves behind lies outside of it, in
// buffers of sockets, pipes and files. Left alone a server of 75 MiB grew past 240 in a thousand tool
// calls. And it lets the engine compile less: see docs/decisions/0010-compile-less.md.

/**
 * How many times more often than usual a function of the server has to run before the engine
 * compiles it. A turn waits for a model and for tools; the compiled code of a thousand turns, what
 * the engine keeps to leave it again, and what its compilers leave behind were 10 MiB.
 */
export const compileReluctance = 16;

/** For the whole of this process, until it ends. */
export function compileLess(): void {
  Bun.unsafe.setJITPolicy(compileReluctance);
}

/** Time from the end of some work to the collection for it; whatever ends meanwhile shares it. */
export const collectAfterMs = 1000;

export interface Collector {
  /** Some work has ended. */
  touch(): void;
  close(): void;
}

export function createCollector(
  collect: () => void = () => Bun.gc(true),
  afterMs = collectAfterMs,
): Collector {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    touch() {
      timer ??= setTimeout(() => {
        timer = undefined;
        collect();
      }, afterMs);
    },
    close: () => clearTimeout(timer),
  };
}
