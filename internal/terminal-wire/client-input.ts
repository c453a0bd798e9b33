// What is to be typed into the terminal: whole writes, one after the other, so that nobody's keys come
// in the middle of somebody else's. Each client has its bound, at which it is read no further.

import type { ClientId, ClientsEffect } from "./client-events.ts";
import { clientInputBytesMax } from "./client-limits.ts";

interface Write {
  /** Undefined for the emulator's answers. */
  readonly client: ClientId | undefined;
  readonly bytes: Uint8Array;
}

export class ClientInput {
  #waiting: Write[] = [];
  #isWriting = false;
  #bytes = new Map<ClientId | undefined, number>();
  #paused = new Set<ClientId>();

  typed(client: ClientId, bytes: Uint8Array): ClientsEffect[] {
    const waiting = this.#add({ client, bytes });
    const effects = this.#next();
    if (waiting <= clientInputBytesMax || this.#paused.has(client)) return effects;
    this.#paused.add(client);
    return [...effects, { kind: "pause", client }];
  }

  /** Who asks without reading the answers gets no more of them than a client may type. */
  answered(bytes: Uint8Array): ClientsEffect[] {
    const waiting = this.#bytes.get(undefined) ?? 0;
    if (waiting + bytes.length > clientInputBytesMax) return [];
    this.#add({ client: undefined, bytes });
    return this.#next();
  }

  /** The terminal took what it was given last. */
  written(): ClientsEffect[] {
    const done = this.#waiting.shift();
    this.#isWriting = false;
    if (done === undefined) return [];
    const { client } = done;
    const left = (this.#bytes.get(client) ?? 0) - done.bytes.length;
    if (left > 0) this.#bytes.set(client, left);
    else this.#bytes.delete(client);
    const effects = this.#next();
    if (client === undefined || left > clientInputBytesMax / 2) return effects;
    return this.#paused.delete(client) ? [...effects, { kind: "resume", client }] : effects;
  }

  /** It is read no more; what it typed whole still counts. */
  left(client: ClientId): void {
    this.#paused.delete(client);
  }

  #add(write: Write): number {
    const waiting = (this.#bytes.get(write.client) ?? 0) + write.bytes.length;
    this.#bytes.set(write.client, waiting);
    this.#waiting.push(write);
    return waiting;
  }

  #next(): ClientsEffect[] {
    const next = this.#waiting[0];
    if (this.#isWriting || next === undefined) return [];
    this.#isWriting = true;
    return [{ kind: "write", bytes: next.bytes }];
  }
}
