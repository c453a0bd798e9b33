// One append-only file whose durable length is known. A write that fails is cut back to that
// length; a sync that fails leaves nothing to know, and the caller must stop using the file.

import { closeSync, fdatasync, ftruncateSync, writeSync } from "node:fs";
import { sizeOf } from "../os/mod.ts";

/** The system calls that can fail on a full or broken disk; tests put failures here. */
export interface FileCalls {
  write(fd: number, bytes: Uint8Array, offset: number): number;
  /** Off the event loop, so that others go on while the disk works. */
  sync(fd: number): Promise<void>;
  cut(fd: number, size: number): void;
}

export const fileCalls: FileCalls = {
  write: (fd, bytes, offset) => writeSync(fd, bytes, offset),
  sync: (fd) =>
    new Promise((resolve, reject) => {
      fdatasync(fd, (error) => (error ? reject(error) : resolve()));
    }),
  cut: ftruncateSync,
};

export class DurableFile {
  readonly fd: number;
  readonly #calls: FileCalls;
  #durable: number;
  #written: number;

  constructor(fd: number, size: number, calls: FileCalls) {
    this.fd = fd;
    this.#calls = calls;
    this.#durable = size;
    this.#written = size;
  }

  /** Bytes that are known to be on disk. */
  get size(): number {
    return this.#durable;
  }

  /** False when the file on disk has another length: somebody else wrote to it. */
  get untouched(): boolean {
    return sizeOf(this.fd) === this.#written;
  }

  /** Appends without making it durable; throws what the system said, the rest may be half there. */
  write(bytes: Uint8Array): void {
    let offset = 0;
    while (offset < bytes.length) {
      const count = this.#calls.write(this.fd, bytes, offset);
      if (count === 0) throw Object.assign(new Error("nothing was written"), { code: "ENOSPC" });
      offset += count;
      this.#written += count;
    }
  }

  async sync(): Promise<void> {
    const written = this.#written;
    await this.#calls.sync(this.fd);
    this.#durable = written;
  }

  /** Takes back whatever is written beyond `size`, durably. A failure here is final. */
  async cutBack(size: number): Promise<void> {
    this.#calls.cut(this.fd, size);
    this.#written = size;
    await this.#calls.sync(this.fd);
    this.#durable = size;
  }

  close(): void {
    closeSync(this.fd);
  }
}
