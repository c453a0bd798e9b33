// The machine of a terminal's clients: who gets which bytes, who is dropped, whose size counts and
// whose keys come next. Events in, effects out; time comes with the events. It holds the queues, as
// parts of the stream that all clients share; whoever runs it writes what `head` gives and says how
// much was taken. A client's stream begins with a snapshot that stands for all before a position, so
// a joining client waits for one and gets what came after that position.

import type { Code } from "../abi/mod.ts";
import {
  type Client,
  decidingSize,
  lateness,
  newClient,
  queueFrame,
  queueOutput,
  queueSnapshot,
} from "./client.ts";
import type { ClientId, ClientsEffect, ClientsEvent } from "./client-events.ts";
import { ClientInput } from "./client-input.ts";
import { clientFarewellMs, framedCopyBytesMax, joinQueueBytesMax } from "./client-limits.ts";
import type { FirstLine } from "./first-line.ts";
import { encodeTerminalFrame, type TerminalServerFrame } from "./frames.ts";
import { JoinLog } from "./join-log.ts";

export class TerminalClients {
  #clients = new Map<ClientId, Client>();
  #cols: number;
  #rows: number;
  #acts = 0;
  /** Counts what makes a snapshot under way useless: changes of size, overruns. */
  #generation = 0;
  readonly #log = new JoinLog();
  readonly #input = new ClientInput();
  #answering = true;
  #exit: { status: number; signal: number } | undefined;
  #effects: ClientsEffect[] = [];
  #nowMs = 0;

  constructor(size: { readonly cols: number; readonly rows: number }) {
    this.#cols = size.cols;
    this.#rows = size.rows;
  }

  get size(): { readonly cols: number; readonly rows: number } {
    return { cols: this.#cols, rows: this.#rows };
  }

  /** Bytes of output so far. */
  get position(): number {
    return this.#log.position;
  }

  get count(): number {
    return this.#clients.size;
  }

  /** The most that waits for any client; all queues share one stream. */
  get queuedBytes(): number {
    let most = this.#log.bytes;
    for (const { queue } of this.#clients.values()) most = Math.max(most, queue.bytes);
    return most;
  }

  /** Whether anything waits for a client, or a client for its end: then ticks are of use. */
  get waiting(): boolean {
    for (const { queue, state } of this.#clients.values()) {
      if (queue.bytes > 0 || state === "ending") return true;
    }
    return false;
  }

  head(client: ClientId): Uint8Array | undefined {
    return this.#clients.get(client)?.queue.head();
  }

  queuedFor(client: ClientId): number {
    return this.#clients.get(client)?.queue.bytes ?? 0;
  }

  /** Whether a client lags and reads: then the terminal should be read no faster than it. */
  paced(nowMs: number): boolean {
    for (const { state, queue } of this.#clients.values()) {
      if (state === "active" && queue.wantsPace(nowMs)) return true;
    }
    return false;
  }

  step(event: ClientsEvent): ClientsEffect[] {
    if ("nowMs" in event) this.#nowMs = event.nowMs;
    this.#take(event);
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }

  #take(event: ClientsEvent): void {
    if (event.kind === "data") this.#data(event.bytes);
    else if (event.kind === "join") this.#join(event.client, event.first);
    else if (event.kind === "snapshot") this.#snapshot(event);
    else if (event.kind === "written") this.#effects.push(...this.#input.written());
    else if (event.kind === "answer") {
      if (this.#answering) this.#effects.push(...this.#input.answered(event.bytes));
    } else if (event.kind === "tick") this.#tick();
    else if (event.kind === "exit") this.#exited(event);
    else {
      const client = this.#clients.get(event.client);
      if (client !== undefined) this.#ofClient(client, event);
    }
  }

  #ofClient(client: Client, event: Extract<ClientsEvent, { client: ClientId }>): void {
    if (event.kind === "taken") this.#taken(client, event.bytes);
    else if (event.kind === "leave") this.#forget(client);
    else if (client.state === "ending") return;
    else if (event.kind === "input") this.#typed(client, event.bytes);
    else if (event.kind === "size") this.#sized(client, event);
    else if (event.kind === "refuse") this.#drop(client, event.code, event.message);
    else if (event.kind === "ping" && client.first.framed) {
      this.#send(client, { type: "ping", data: event.bytes });
    }
  }

  #join(id: ClientId, first: FirstLine): void {
    const client = newClient(id, first, this.#log.position);
    if (first.mode === "attach") client.active = ++this.#acts;
    this.#clients.set(id, client);
    this.#ask();
    this.#answer();
  }

  #ask(): void {
    if (this.#log.keeping) return;
    this.#log.keeping = true;
    this.#effects.push({ kind: "snapshot", generation: this.#generation });
  }

  #data(bytes: Uint8Array): void {
    let framed: Uint8Array | undefined;
    for (const client of [...this.#clients.values()]) {
      if (client.state === "active") this.#dropLate(client);
      if (client.state !== "active") continue;
      if (!client.first.framed) client.queue.push(bytes, this.#nowMs);
      else if (bytes.length > framedCopyBytesMax) queueOutput(client, bytes, this.#nowMs);
      else {
        framed ??= encodeTerminalFrame({ type: "data", data: bytes });
        client.queue.push(framed, this.#nowMs);
      }
      this.#effects.push({ kind: "flush", client: client.id });
    }
    this.#log.push(bytes);
    if (this.#log.bytes > joinQueueBytesMax) this.#restart();
  }

  /** The snapshot under way can no longer be continued from; a newer one can. */
  #restart(): void {
    this.#generation++;
    const { position } = this.#log;
    this.#log.cutTo(position);
    for (const client of this.#clients.values()) {
      if (client.state === "waiting") client.joined = position;
    }
    if (this.#log.keeping) this.#effects.push({ kind: "snapshot", generation: this.#generation });
  }

  #snapshot(event: Extract<ClientsEvent, { kind: "snapshot" }>): void {
    if (event.generation !== this.#generation) return;
    const { position, shot } = event;
    const parts = this.#log.after(position);
    let left = false;
    for (const client of this.#clients.values()) {
      if (client.state !== "waiting") continue;
      if (client.joined > position) left = true;
      else {
        client.state = "active";
        queueSnapshot(client, shot, this.#nowMs);
        for (const part of parts) queueOutput(client, part, this.#nowMs);
        this.#effects.push({ kind: "flush", client: client.id });
        this.#end(client);
      }
    }
    this.#log.cutTo(left ? position : this.#log.position);
    this.#log.keeping = false;
    if (left) this.#ask();
  }

  /** A frame beside the stream; nothing may come before a client's snapshot. */
  #send(client: Client, frame: TerminalServerFrame): void {
    if (client.state === "waiting") return;
    queueFrame(client, frame, this.#nowMs);
    this.#effects.push({ kind: "flush", client: client.id });
  }

  #taken(client: Client, bytes: number): void {
    client.queue.taken(bytes, this.#nowMs);
    if (client.state !== "ending" || client.queue.bytes > 0) return;
    this.#effects.push({ kind: "finish", client: client.id });
  }

  #typed(client: Client, bytes: Uint8Array): void {
    if (client.first.mode !== "attach" || bytes.length === 0) return;
    client.active = ++this.#acts;
    this.#resize();
    this.#effects.push(...this.#input.typed(client.id, bytes));
  }

  #sized(client: Client, event: { cols: number; rows: number }): void {
    if (client.first.mode !== "attach") return;
    client.size = { cols: event.cols, rows: event.rows };
    client.active = ++this.#acts;
    this.#resize();
  }

  #resize(): void {
    if (this.#exit !== undefined) return;
    const size = decidingSize(this.#clients.values());
    if (size === undefined || (size.cols === this.#cols && size.rows === this.#rows)) return;
    this.#cols = size.cols;
    this.#rows = size.rows;
    this.#effects.push({ kind: "resize", ...size });
    for (const client of this.#clients.values()) {
      if (client.state !== "active" || !client.first.framed) continue;
      this.#send(client, { type: "resize", ...size });
    }
    this.#restart();
  }

  #drop(client: Client, code: Code, message: string): void {
    if (code === "slow_consumer") client.queue.cut();
    this.#effects.push({ kind: "dropped", client: client.id, code, message });
    if (!client.first.framed) {
      this.#effects.push({ kind: "cut", client: client.id });
      this.#forget(client);
      return;
    }
    queueFrame(client, { type: "error", code, message }, this.#nowMs);
    this.#finish(client);
  }

  #end(client: Client): void {
    if (this.#exit === undefined) return;
    if (client.first.framed) queueFrame(client, { type: "exit", ...this.#exit }, this.#nowMs);
    this.#finish(client);
    if (client.queue.bytes === 0) this.#effects.push({ kind: "finish", client: client.id });
  }

  #finish(client: Client): void {
    client.state = "ending";
    client.endsAtMs = this.#nowMs + clientFarewellMs;
    this.#release();
    this.#effects.push({ kind: "flush", client: client.id });
  }

  #forget(client: Client): void {
    this.#clients.delete(client.id);
    client.queue.clear();
    this.#input.left(client.id);
    this.#release();
  }

  /** It has no say any more: not in the size, not in who answers. What it typed whole still counts. */
  #release(): void {
    this.#resize();
    this.#answer();
  }

  #answer(): void {
    let attached = false;
    for (const { first, state } of this.#clients.values()) {
      attached ||= first.mode === "attach" && state !== "ending";
    }
    if (this.#answering === !attached) return;
    this.#answering = !attached;
    this.#effects.push({ kind: "answering", on: this.#answering });
  }

  #tick(): void {
    for (const client of [...this.#clients.values()]) {
      if (client.state === "ending") {
        if (this.#nowMs < client.endsAtMs) continue;
        this.#effects.push({ kind: "cut", client: client.id });
        this.#forget(client);
      } else {
        this.#dropLate(client);
      }
    }
  }

  #dropLate(client: Client): void {
    const why = lateness(client, this.#nowMs);
    if (why !== undefined) this.#drop(client, "slow_consumer", why);
  }

  #exited(event: { status: number; signal: number }): void {
    this.#exit = { status: event.status, signal: event.signal };
    for (const client of [...this.#clients.values()]) {
      if (client.state === "active") this.#end(client);
    }
  }
}
