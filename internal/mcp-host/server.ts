// One server of one run, over however many processes: opened at the first call, opened anew when it
// has died, at most `serverRestartsMax` times. A call is never made twice: what was pending when its
// server died fails.

import { type Code, CodedError, fail } from "../abi/mod.ts";
import type { McpLocator } from "../control/mod.ts";
import type { LaunchIo, LaunchRequest } from "../launch/mod.ts";
import { serverRestartsMax } from "./bounds.ts";
import { type OpenServer, openServer } from "./open.ts";
import type { ServedOutcome, ToolServersOptions } from "./types.ts";

export class ToolServer {
  readonly view: string;
  readonly #options: ToolServersOptions;
  readonly #locator: McpLocator;
  readonly #over = new AbortController();
  #opening: Promise<OpenServer> | undefined;
  #starts = 0;

  constructor(options: ToolServersOptions, locator: McpLocator, view: string) {
    this.#options = options;
    this.#locator = locator;
    this.view = view;
  }

  async call(request: LaunchRequest, definition: string, io: LaunchIo): Promise<ServedOutcome> {
    const server = await this.#opened(request, io.signal);
    return server.call(request, definition, io);
  }

  /** Resolves when nothing of it is left. */
  async end(graceMs: number): Promise<void> {
    this.#over.abort();
    const opening = this.#opening;
    this.#opening = undefined;
    const server = await opening?.catch(() => undefined);
    await server?.end(graceMs);
  }

  /** The server that lives; calls that come while it is opened wait for the same one. */
  async #opened(request: LaunchRequest, signal: AbortSignal): Promise<OpenServer> {
    const known = await this.#opening;
    if (known?.alive) return known;
    if (known !== undefined) {
      this.#opening = undefined;
      await known.end(0);
    }
    const opening = this.#opening ?? this.#open(request);
    this.#opening = opening;
    try {
      return await unlessAborted(opening, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      // What could not be opened is tried again by the next call.
      if (this.#opening === opening) this.#opening = undefined;
      throw error;
    }
  }

  /** Whoever asked first may leave: others wait for the same server, and it is there for the next. */
  #open(request: LaunchRequest): Promise<OpenServer> {
    const { server } = this.#locator;
    if (this.#over.signal.aborted) fail("ECANCELED", `server "${server}" is not wanted any more`);
    if (this.#starts > serverRestartsMax) {
      const often = `${this.#starts} times in this run`;
      const code: Code = "EIO";
      fail(code, `server "${server}" was started ${often} and is not there any more`, {
        hint: "the next run tries again; look at it with ctxmcp list",
      });
    }
    this.#starts += 1;
    return openServer(this.#options, this.#locator, request, this.#over.signal);
  }
}

/** Rejects ECANCELED when aborted first; whatever the work comes to then is nobody's. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => undefined);
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(new CodedError("ECANCELED", "stopped: cancelled"));
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
