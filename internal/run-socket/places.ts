// The folders that stay from one run of a session to its next: a sandbox may be built between the two,
// and shows what is in the folder once the next run is open.

import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { placesMax } from "./bounds.ts";
import type { RunPlace } from "./types.ts";

export class Places {
  readonly #base: string;
  /** By name, the one that was asked for last at the end; the number is of runs that use it. */
  readonly #users = new Map<string, number>();

  constructor(base: string) {
    this.#base = base;
  }

  /** Path of the folder, which is there. */
  of(place: RunPlace): string {
    const { agent, session, scope, peerUid } = place;
    const whole = [agent, session, scope, String(peerUid)].join("\0");
    const digest = new Bun.CryptoHasher("sha256").update(whole).digest("hex");
    const name = `kept-${digest.slice(0, 32)}`;
    const users = this.#users.get(name);
    this.#users.delete(name);
    this.#users.set(name, users ?? 0);
    const path = join(this.#base, name);
    if (users === undefined) {
      makeFolder(path, peerUid);
      this.#limit();
    }
    return path;
  }

  /** A run begins to use the folder; gives back what ends that. */
  use(path: string): () => void {
    const name = path.slice(this.#base.length + 1);
    const users = this.#users.get(name) ?? 0;
    this.#users.set(name, users + 1);
    return () => this.#users.set(name, (this.#users.get(name) ?? 1) - 1);
  }

  #limit(): void {
    for (const [name, users] of this.#users) {
      if (this.#users.size <= placesMax) return;
      if (users > 0) continue;
      this.#users.delete(name);
      rmSync(join(this.#base, name), { recursive: true, force: true });
    }
  }
}

/** An empty folder that only the server and, by searching it, the peer's uid can use. */
export function makeFolder(path: string, peerUid: number): void {
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path);
  chmodSync(path, peerUid === process.geteuid?.() ? 0o700 : 0o711);
}
