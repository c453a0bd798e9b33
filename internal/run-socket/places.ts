// The folders that stay from one run of a session to its next: a sandbox may be built between the two,
// and shows what is in the folder once the next run is open.

import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fail } from "../abi/mod.ts";
import { placesMax } from "./bounds.ts";
import type { RunPlace } from "./types.ts";

export class Places {
  readonly #base: string;
  /** Paths, the one that was asked for last at the end, with whether a run is open there. */
  readonly #inUse = new Map<string, boolean>();

  constructor(base: string) {
    this.#base = base;
  }

  /** Path of the folder, which is there. */
  of(place: RunPlace): string {
    const { agent, session, scope, peerUid } = place;
    const whole = [agent, session, scope, String(peerUid)].join("\0");
    const digest = new Bun.CryptoHasher("sha256").update(whole).digest("hex");
    const path = join(this.#base, digest.slice(0, 32));
    const inUse = this.#inUse.get(path);
    this.#inUse.delete(path);
    this.#inUse.set(path, inUse ?? false);
    if (inUse === undefined) {
      makeFolder(path, peerUid);
      this.#limit(path);
    }
    return path;
  }

  /** A run begins to use the folder; gives back what ends that. Throws `busy` for one that has a run. */
  use(path: string): () => void {
    if (this.#inUse.get(path)) fail("busy", "another run of this session is open");
    this.#inUse.set(path, true);
    return () => this.#inUse.set(path, false);
  }

  #limit(newest: string): void {
    for (const [path, inUse] of this.#inUse) {
      if (this.#inUse.size <= placesMax) return;
      if (inUse || path === newest) continue;
      this.#inUse.delete(path);
      rmSync(path, { recursive: true, force: true });
    }
  }
}

/** An empty folder that only the server and, by searching it, the peer's uid can use. */
function makeFolder(path: string, peerUid: number): void {
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path);
  chmodSync(path, peerUid === process.geteuid?.() ? 0o700 : 0o711);
}
