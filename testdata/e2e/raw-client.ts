// A foreign client of an agent socket: bytes out, JSON lines in, nothing of the product imported.
// As root it connects with another effective uid (set for this thread alone, while connect(2) runs),
// because the kernel reports the effective uid of that moment to the peer.

import { dlopen } from "bun:ffi";
import { closeSync, constants, openSync, readlinkSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { basename, dirname } from "node:path";
import type { Frame } from "./world.ts";

const SYS_setresuid = process.arch === "arm64" ? 147 : 117;

const { syscall } = dlopen("libc.so.6", {
  syscall: { args: ["i64", "i64", "i64", "i64"], returns: "i64" },
}).symbols;

/** Calls with another effective uid, which root alone can take on. */
export function asUid<T>(uid: number, call: () => T): T {
  if (process.getuid?.() !== 0) return call();
  syscall(SYS_setresuid, -1, uid, -1);
  try {
    return call();
  } finally {
    syscall(SYS_setresuid, -1, 0, -1);
  }
}

export class RawClient {
  readonly frames: Frame[] = [];
  readonly closed: Promise<void>;
  readonly socket: Socket;
  #rest = "";
  #waiting: { test: (frame: Frame) => boolean; resolve: (frame: Frame | undefined) => void }[] = [];

  /** `path` may be a symlink to the socket; long paths go through their folder's descriptor. */
  constructor(path: string, uid: number, options: { paused?: boolean } = {}) {
    const real = readlinkSync(path);
    const folder = openSync(dirname(real), constants.O_RDONLY | constants.O_DIRECTORY);
    this.socket = asUid(uid, () => connect(`/proc/self/fd/${folder}/${basename(real)}`));
    this.socket.on("error", () => undefined);
    this.socket.setEncoding("utf8");
    if (options.paused) this.socket.pause();
    else this.socket.on("data", (text: string) => this.#take(text));
    this.closed = new Promise((resolve) => {
      this.socket.on("close", () => {
        closeSync(folder);
        for (const waiter of this.#waiting) waiter.resolve(undefined);
        this.#waiting = [];
        resolve();
      });
    });
  }

  #take(text: string): void {
    const parts = (this.#rest + text).split("\n");
    this.#rest = parts.pop() ?? "";
    for (const part of parts) {
      const frame = JSON.parse(part) as Frame;
      this.frames.push(frame);
      this.#waiting = this.#waiting.filter((waiter) => {
        if (!waiter.test(frame)) return true;
        waiter.resolve(frame);
        return false;
      });
    }
  }

  send(request: unknown): this {
    this.socket.write(`${JSON.stringify(request)}\n`);
    return this;
  }

  bytes(data: string | Uint8Array): this {
    this.socket.write(data);
    return this;
  }

  /** The first frame, past or to come, that fits; undefined when the connection ends before. */
  until(test: (frame: Frame) => boolean): Promise<Frame | undefined> {
    const seen = this.frames.find(test);
    if (seen) return Promise.resolve(seen);
    if (this.socket.destroyed) return Promise.resolve(undefined);
    return new Promise((resolve) => this.#waiting.push({ test, resolve }));
  }

  done(): Promise<Frame | undefined> {
    return this.until((frame) => frame.type === "done");
  }

  end(): void {
    this.socket.destroy();
  }
}
