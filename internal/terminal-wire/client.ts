// One client as the machine holds it, and what goes into its queue in the form that it speaks.

import type { ClientId, Snapshot } from "./client-events.ts";
import { clientQueueBytesHardMax, clientQueueBytesMax, clientStallMs } from "./client-limits.ts";
import { ClientQueue } from "./client-queue.ts";
import type { FirstLine } from "./first-line.ts";
import {
  encodeTerminalFrame,
  type TerminalServerFrame,
  terminalFrameHeader,
  terminalServerFrameBytesMax,
} from "./frames.ts";

export interface Client {
  readonly id: ClientId;
  readonly first: FirstLine;
  readonly queue: ClientQueue;
  state: "waiting" | "active" | "ending";
  /** Position of the stream at which it began to wait. */
  joined: number;
  size: { cols: number; rows: number } | undefined;
  /** Number of its last act among all acts; the highest is the most recent. */
  active: number;
  endsAtMs: number;
}

/** One that waits for its snapshot since this position of the stream. */
export function newClient(id: ClientId, first: FirstLine, joined: number): Client {
  const state = "waiting";
  const endsAtMs = Number.POSITIVE_INFINITY;
  return {
    id,
    first,
    queue: new ClientQueue(),
    state,
    joined,
    size: undefined,
    active: 0,
    endsAtMs,
  };
}

export function queueFrame(client: Client, frame: TerminalServerFrame, nowMs: number): void {
  client.queue.push(encodeTerminalFrame(frame), nowMs);
}

/** A part of the stream; clients share its memory. */
export function queueOutput(client: Client, bytes: Uint8Array, nowMs: number): void {
  if (bytes.length === 0) return;
  if (client.first.framed) client.queue.push(terminalFrameHeader("data", bytes.length), nowMs);
  client.queue.push(bytes, nowMs);
}

export function queueSnapshot(client: Client, shot: Snapshot, nowMs: number): void {
  const { bytes, ...facts } = shot;
  if (!client.first.framed) {
    queueOutput(client, bytes, nowMs);
    return;
  }
  const data = bytes.subarray(0, terminalServerFrameBytesMax - 5);
  queueFrame(client, { type: "snapshot", ...facts, data }, nowMs);
  queueOutput(client, bytes.subarray(data.length), nowMs);
}

/** Why it must be let go; undefined while it need not. */
export function lateness(client: Client, nowMs: number): string | undefined {
  const { bytes } = client.queue;
  if (bytes <= clientQueueBytesMax) return undefined;
  const idleMs = client.queue.idleMs(nowMs);
  if (bytes <= clientQueueBytesHardMax && idleMs < clientStallMs) return undefined;
  return `${bytes} bytes wait for it and it took none for ${(idleMs / 1000).toFixed(1)} s`;
}

/** The size of the attached client that did something last, of those that told one. */
export function decidingSize(clients: Iterable<Client>): Client["size"] {
  let latest: Client | undefined;
  for (const client of clients) {
    if (client.size === undefined || client.state === "ending") continue;
    if (latest === undefined || client.active > latest.active) latest = client;
  }
  return latest?.size;
}
