// The folders of capability sockets. Each is a slot of one agent, which one run after another has, of
// whichever session: a sandbox that was built after a run and shows the slot's folder can serve the
// next run of the agent, and shows what is in the folder once that one is open.

import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fail } from "../abi/mod.ts";
import { placesMax } from "./bounds.ts";
import type { RunPlace } from "./types.ts";

interface Slot {
  readonly path: string;
  /** Agent, scope and uid: no run of another one ever has it. */
  readonly owner: string;
  /** Of the run that has it or had it last. */
  session: string;
  /** The run that has it. */
  run: string | undefined;
}

export class Places {
  readonly #base: string;
  /** By path, the one that was made or freed last at the end. */
  readonly #slots = new Map<string, Slot>();
  #made = 0;

  constructor(base: string) {
    this.#base = base;
  }

  /** Path of the folder that the session's run has, or that its next one would get now. */
  of(place: RunPlace): string {
    const owner = ownerOf(place);
    for (const slot of this.#slots.values()) {
      const own = slot.owner === owner && slot.session === place.session;
      if (own && slot.run !== undefined) return slot.path;
    }
    return (this.#free(place) ?? this.#make(place)).path;
  }

  /** The folder is the run's alone until `release`; the same one however often it asks. */
  lease(place: RunPlace, run: string): string {
    const owner = ownerOf(place);
    for (const slot of this.#slots.values()) {
      if (slot.run === run && slot.owner === owner) return slot.path;
    }
    const slot = this.#free(place) ?? this.#make(place);
    slot.session = place.session;
    slot.run = run;
    return slot.path;
  }

  /**
   * A run begins to serve in the folder; gives back what ends that. Throws `busy` when another run has
   * it, ENOENT when there is none.
   */
  use(path: string, run: string): () => void {
    const slot = this.#slots.get(path) ?? fail("ENOENT", `"${path}" is no folder of a run`);
    const leased = slot.run === run;
    if (slot.run !== undefined && !leased) fail("busy", "another run has this folder");
    slot.run = run;
    return leased ? () => undefined : () => this.release(run);
  }

  /** The run is over. */
  release(run: string): void {
    for (const slot of this.#slots.values()) {
      if (slot.run !== run) continue;
      slot.run = undefined;
      this.#slots.delete(slot.path);
      this.#slots.set(slot.path, slot);
    }
  }

  /** The one that the session had last, else the one of its agent that was freed last. */
  #free(place: RunPlace): Slot | undefined {
    const owner = ownerOf(place);
    const free = [...this.#slots.values()].filter(
      (slot) => slot.owner === owner && slot.run === undefined,
    );
    return free.findLast(({ session }) => session === place.session) ?? free.at(-1);
  }

  #make(place: RunPlace): Slot {
    const { session, peerUid } = place;
    this.#made += 1;
    const path = join(this.#base, this.#made.toString(36));
    const slot: Slot = { path, owner: ownerOf(place), session, run: undefined };
    makeFolder(path, peerUid);
    this.#slots.set(path, slot);
    this.#limit(slot);
    return slot;
  }

  #limit(newest: Slot): void {
    for (const slot of this.#slots.values()) {
      if (this.#slots.size <= placesMax) return;
      if (slot.run !== undefined || slot === newest) continue;
      this.#slots.delete(slot.path);
      rmSync(slot.path, { recursive: true, force: true });
    }
  }
}

function ownerOf({ agent, scope, peerUid }: RunPlace): string {
  return JSON.stringify([agent, scope, peerUid]);
}

/** An empty folder that only the server and, by searching it, the peer's uid can use. */
function makeFolder(path: string, peerUid: number): void {
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path);
  chmodSync(path, peerUid === process.geteuid?.() ? 0o700 : 0o711);
}
