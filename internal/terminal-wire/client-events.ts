// What happens to the clients of a terminal, and what is to be done about it.

import type { Code } from "../abi/mod.ts";
import type { FirstLine } from "./first-line.ts";

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
