// The machine of a terminal's clients: who gets which bytes, who is dropped, whose size counts and
// whose keys come next. Events in, effects out; time comes with the events. It holds the queues, as
// parts of the stream that all clients share; whoever runs it writes what `head` gives and says how
// much was taken. A client's stream begins with a snapshot that stands for all before a position, so
// a joining client waits for one and gets what came after that position.

import type { Code } from "../abi/mod.ts";
import {
  clientFarewellMs,
  clientInputBytesMax,
  clientQueueBytesHardMax,
  clientQueueBytesMax,
  clientStallMs,
  joinQueueBytesMax,
} from "./client-limits.ts";
import { ClientQueue } from "./client-queue.ts";
import type { FirstLine } from "./first-line.ts";
import {
  encodeTerminalFrame,
  type TerminalServerFrame,
  terminalFrameHeader,
  terminalServerFrameBytesMax,
} from "./frames.ts";

export type ClientId = number;

export type ClientsEvent =
  | { kind: "join"; client: ClientId; first: FirstLine; nowMs: number }
  /** Output of the terminal. The bytes are kept and must not change any more. */
  | { kind: "data"; bytes: Uint8Array; nowMs: number }
  /** Answers the effect `snapshot` of this generation; stands for all output before `position`. */
  | { kind: "snapshot"; generation: number; position: number; shot: Snapshot; nowMs: number }
  | { kind: "taken"; client: ClientId; bytes: number; nowMs: number }
  /** One whole write of a client. */
  | { kind: "input"; client: ClientId; bytes: Uint8Array }
  /** The emulator's answer to what a program asked of its terminal. */
  | { kind: "answer"; bytes: Uint8Array }
  /** The terminal took what it was given last. */
  | { kind: "written" }
  | { kind: "size"; client: ClientId; cols: number; rows: number; nowMs: number }
  | { kind: "ping"; client: ClientId; bytes: Uint8Array; nowMs: number }
  /** A client's mistake: it is told and let go. */
  | { kind: "refuse"; client: ClientId; code: Code; message: string; nowMs: number }
  | { kind: "leave"; client: ClientId }
  | { kind: "tick"; nowMs: number }
  | { kind: "exit"; status: number; signal: number; nowMs: number };

export interface Snapshot {
  readonly bytes: Uint8Array;
  readonly approximate: boolean;
  readonly cols: number;
  readonly rows: number;
}

export type ClientsEffect =
  /** Write what `head` gives. */
  | { kind: "flush"; client: ClientId }
  /** Close it once all of `head` is written; its input counts no more. */
  | { kind: "finish"; client: ClientId }
  /** Cut it now. The machine has forgotten it. */
  | { kind: "cut"; client: ClientId }
  /** For the log: this client was let go, and why. */
  | { kind: "dropped"; client: ClientId; code: Code; message: string }
  | { kind: "snapshot"; generation: number }
  | { kind: "resize"; cols: number; rows: number }
  /** Give these bytes to the terminal, then say `written`. */
  | { kind: "write"; bytes: Uint8Array }
  | { kind: "pause"; client: ClientId }
  | { kind: "resume"; client: ClientId }
  /** Whether the emulator answers what programs ask of a terminal. */
  | { kind: "answering"; on: boolean };

interface Client {
  readonly id: ClientId;
  readonly first: FirstLine;
  readonly queue: ClientQueue;
  state: "waiting" | "active" | "ending";
  /** Position of the stream at which it began to wait. */
  joined: number;
  size: { cols: number; rows: number } | undefined;
  /** Number of its last act among all acts; the highest is the most recent. */
  active: number;
  inputBytes: number;
  paused: boolean;
  endsAtMs: number;
}

export class TerminalClients {
  #clients = new Map<ClientId, Client>();
  #cols: number;
  #rows: number;
  #position = 0;
  #acts = 0;
  /** Counts what makes a snapshot under way useless: changes of size, overruns. */
  #generation = 0;
  #asked = false;
  /** Output since the oldest of those who wait joined. */
  #since: Uint8Array[] = [];
  #sinceBytes = 0;
  /** Whole writes in the order in which they came; answers belong to no client. */
  #input: { client: ClientId | undefined; bytes: Uint8Array }[] = [];
  #answerBytes = 0;
  #writing = false;
  #answering = true;
  #exit: { status: number; signal: number } | undefined;
  #effects: ClientsEffect[] = [];

  constructor(size: { readonly cols: number; readonly rows: number }) {
    this.#cols = size.cols;
    this.#rows = size.rows;
  }

  get size(): { readonly cols: number; readonly rows: number } {
    return { cols: this.#cols, rows: this.#rows };
  }

  /** Bytes of output so far. */
  get position(): number {
    return this.#position;
  }

  get count(): number {
    return this.#clients.size;
  }

  /** The most that waits for any client; all queues share one stream. */
  get queuedBytes(): number {
    let most = this.#sinceBytes;
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

  /** Clients that lag and read: the terminal should be read no faster than they. */
  paced(nowMs: number): ClientId[] {
    const lagging = [...this.#clients.values()].filter(
      ({ state, queue }) => state === "active" && queue.wantsPace(nowMs),
    );
    return lagging.map(({ id }) => id);
  }

  step(event: ClientsEvent): ClientsEffect[] {
    this.#take(event);
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }

  #take(event: ClientsEvent): void {
    if (event.kind === "data") this.#data(event.bytes, event.nowMs);
    else if (event.kind === "join") this.#join(event.client, event.first);
    else if (event.kind === "snapshot") this.#snapshot(event);
    else if (event.kind === "answer") this.#answered(event.bytes);
    else if (event.kind === "written") this.#written();
    else if (event.kind === "tick") this.#tick(event.nowMs);
    else if (event.kind === "exit") this.#exited(event);
    else {
      const client = this.#clients.get(event.client);
      if (client !== undefined) this.#ofClient(client, event);
    }
  }

  #ofClient(client: Client, event: Extract<ClientsEvent, { client: ClientId }>): void {
    if (event.kind === "taken") this.#taken(client, event.bytes, event.nowMs);
    else if (event.kind === "leave") this.#forget(client);
    else if (client.state === "ending") return;
    else if (event.kind === "input") this.#typed(client, event.bytes);
    else if (event.kind === "size") this.#sized(client, event);
    else if (event.kind === "refuse") this.#drop(client, event.code, event.message, event.nowMs);
    else if (event.kind === "ping" && client.first.framed) {
      this.#send(client, { type: "ping", data: event.bytes }, event.nowMs);
    }
  }

  #join(id: ClientId, first: FirstLine): void {
    const client: Client = {
      ...{ id, first, queue: new ClientQueue(), state: "waiting", joined: this.#position },
      ...{ size: undefined, active: 0, inputBytes: 0, paused: false, endsAtMs: Infinity },
    };
    if (first.mode === "attach") client.active = ++this.#acts;
    this.#clients.set(id, client);
    this.#ask();
    this.#answer();
  }

  #ask(): void {
    if (this.#asked) return;
    this.#asked = true;
    this.#effects.push({ kind: "snapshot", generation: this.#generation });
  }

  #data(bytes: Uint8Array, nowMs: number): void {
    this.#position += bytes.length;
    let header: Uint8Array | undefined;
    for (const client of [...this.#clients.values()]) {
      if (client.state === "active") this.#dropLate(client, nowMs);
      if (client.state !== "active") continue;
      if (client.first.framed) {
        header ??= terminalFrameHeader("data", bytes.length);
        client.queue.push(header, nowMs);
      }
      client.queue.push(bytes, nowMs);
      this.#effects.push({ kind: "flush", client: client.id });
    }
    if (this.#asked) this.#keepForJoiners(bytes);
  }

  #keepForJoiners(bytes: Uint8Array): void {
    this.#since.push(bytes);
    this.#sinceBytes += bytes.length;
    if (this.#sinceBytes <= joinQueueBytesMax) return;
    this.#restart();
  }

  /** The snapshot under way can no longer be continued from; a newer one can. */
  #restart(): void {
    this.#generation++;
    this.#since = [];
    this.#sinceBytes = 0;
    for (const client of this.#clients.values()) {
      if (client.state === "waiting") client.joined = this.#position;
    }
    if (this.#asked) this.#effects.push({ kind: "snapshot", generation: this.#generation });
  }

  #snapshot(event: Extract<ClientsEvent, { kind: "snapshot" }>): void {
    if (event.generation !== this.#generation) return;
    const { position, shot, nowMs } = event;
    const parts = this.#after(position);
    let left = false;
    for (const client of this.#clients.values()) {
      if (client.state !== "waiting") continue;
      if (client.joined > position) left = true;
      else this.#admit(client, shot, parts, nowMs);
    }
    this.#asked = false;
    if (left) this.#ask();
    this.#since = left ? parts : [];
    this.#sinceBytes = left ? this.#position - position : 0;
  }

  /** What was put out from this position on. */
  #after(position: number): Uint8Array[] {
    let skip = Math.max(this.#sinceBytes - (this.#position - position), 0);
    const parts: Uint8Array[] = [];
    for (const part of this.#since) {
      if (skip < part.length) parts.push(skip > 0 ? part.subarray(skip) : part);
      skip = Math.max(skip - part.length, 0);
    }
    return parts;
  }

  #admit(client: Client, shot: Snapshot, parts: readonly Uint8Array[], nowMs: number): void {
    client.state = "active";
    const { bytes: data, ...facts } = shot;
    if (client.first.framed) {
      const fits = data.subarray(0, terminalServerFrameBytesMax - 5);
      this.#queue(client, { type: "snapshot", ...facts, data: fits }, nowMs);
      this.#part(client, data.subarray(fits.length), nowMs);
    } else {
      client.queue.push(data, nowMs);
    }
    for (const part of parts) this.#part(client, part, nowMs);
    this.#effects.push({ kind: "flush", client: client.id });
    if (this.#exit !== undefined) this.#end(client, nowMs);
  }

  #part(client: Client, bytes: Uint8Array, nowMs: number): void {
    if (bytes.length === 0) return;
    if (client.first.framed) client.queue.push(terminalFrameHeader("data", bytes.length), nowMs);
    client.queue.push(bytes, nowMs);
  }

  #queue(client: Client, frame: TerminalServerFrame, nowMs: number): void {
    client.queue.push(encodeTerminalFrame(frame), nowMs);
  }

  /** A frame beside the stream; nothing may come before a client's snapshot. */
  #send(client: Client, frame: TerminalServerFrame, nowMs: number): void {
    if (client.state === "waiting") return;
    this.#queue(client, frame, nowMs);
    this.#effects.push({ kind: "flush", client: client.id });
  }

  #taken(client: Client, bytes: number, nowMs: number): void {
    client.queue.taken(bytes, nowMs);
    if (client.state !== "ending" || client.queue.bytes > 0) return;
    this.#effects.push({ kind: "finish", client: client.id });
  }

  #typed(client: Client, bytes: Uint8Array): void {
    if (client.first.mode !== "attach" || bytes.length === 0) return;
    client.active = ++this.#acts;
    this.#resize();
    client.inputBytes += bytes.length;
    this.#input.push({ client: client.id, bytes });
    if (client.inputBytes > clientInputBytesMax && !client.paused) {
      client.paused = true;
      this.#effects.push({ kind: "pause", client: client.id });
    }
    this.#next();
  }

  /** Who asks without reading the answers gets no more of them than a client may type. */
  #answered(bytes: Uint8Array): void {
    if (!this.#answering || this.#answerBytes + bytes.length > clientInputBytesMax) return;
    this.#answerBytes += bytes.length;
    this.#input.push({ client: undefined, bytes });
    this.#next();
  }

  #next(): void {
    if (this.#writing) return;
    const next = this.#input[0];
    if (next === undefined) return;
    this.#writing = true;
    this.#effects.push({ kind: "write", bytes: next.bytes });
  }

  #written(): void {
    const done = this.#input.shift();
    this.#writing = false;
    if (done === undefined) return;
    if (done.client === undefined) this.#answerBytes -= done.bytes.length;
    const client = done.client === undefined ? undefined : this.#clients.get(done.client);
    if (client !== undefined) {
      client.inputBytes -= done.bytes.length;
      if (client.paused && client.inputBytes <= clientInputBytesMax / 2) {
        client.paused = false;
        this.#effects.push({ kind: "resume", client: client.id });
      }
    }
    this.#next();
  }

  #sized(client: Client, event: { cols: number; rows: number; nowMs: number }): void {
    if (client.first.mode !== "attach") return;
    client.size = { cols: event.cols, rows: event.rows };
    client.active = ++this.#acts;
    this.#resize(event.nowMs);
  }

  /** The size of the attached client that did something last, of those that told one. */
  #resize(nowMs = 0): void {
    let latest: Client | undefined;
    for (const client of this.#clients.values()) {
      if (client.size === undefined || client.state === "ending") continue;
      if (latest === undefined || client.active > latest.active) latest = client;
    }
    const size = latest?.size;
    if (size === undefined || (size.cols === this.#cols && size.rows === this.#rows)) return;
    this.#cols = size.cols;
    this.#rows = size.rows;
    this.#effects.push({ kind: "resize", ...size });
    for (const client of this.#clients.values()) {
      if (client.state !== "active" || !client.first.framed) continue;
      this.#send(client, { type: "resize", ...size }, nowMs);
    }
    this.#restart();
  }

  #drop(client: Client, code: Code, message: string, nowMs: number): void {
    if (code === "slow_consumer") client.queue.cut();
    this.#effects.push({ kind: "dropped", client: client.id, code, message });
    if (!client.first.framed) {
      this.#effects.push({ kind: "cut", client: client.id });
      this.#forget(client);
      return;
    }
    this.#queue(client, { type: "error", code, message }, nowMs);
    this.#finish(client, nowMs + clientFarewellMs);
  }

  #end(client: Client, nowMs: number): void {
    if (this.#exit === undefined) return;
    if (client.first.framed) this.#queue(client, { type: "exit", ...this.#exit }, nowMs);
    this.#finish(client, nowMs + clientFarewellMs);
    if (client.queue.bytes === 0) this.#effects.push({ kind: "finish", client: client.id });
  }

  #finish(client: Client, endsAtMs: number): void {
    client.state = "ending";
    client.endsAtMs = endsAtMs;
    this.#release();
    this.#effects.push({ kind: "flush", client: client.id });
  }

  #forget(client: Client): void {
    this.#clients.delete(client.id);
    client.queue.clear();
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

  #tick(nowMs: number): void {
    for (const client of [...this.#clients.values()]) {
      if (client.state === "ending") {
        if (nowMs < client.endsAtMs) continue;
        this.#effects.push({ kind: "cut", client: client.id });
        this.#forget(client);
      } else {
        this.#dropLate(client, nowMs);
      }
    }
  }

  #dropLate(client: Client, nowMs: number): void {
    const { queue } = client;
    if (queue.bytes <= clientQueueBytesMax) return;
    const idleMs = queue.idleMs(nowMs);
    if (queue.bytes <= clientQueueBytesHardMax && idleMs < clientStallMs) return;
    const seconds = (idleMs / 1000).toFixed(1);
    const message = `${queue.bytes} bytes wait for it and it took none for ${seconds} s`;
    this.#drop(client, "slow_consumer", message, nowMs);
  }

  #exited(event: { status: number; signal: number; nowMs: number }): void {
    this.#exit = { status: event.status, signal: event.signal };
    for (const client of [...this.#clients.values()]) {
      if (client.state === "active") this.#end(client, event.nowMs);
    }
  }
}
