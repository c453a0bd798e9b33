// What the host and `ctxmcp serve-tool` say to each other, one JSON object a line, over one socket: the
// host opens a server, gives it its secrets, calls its tools. serve-tool shares its sandbox with the
// server, so the host believes nothing of what it says beyond its shape.

import type { Code } from "../abi/mod.ts";

/** One line. Past it EMSGSIZE, and the connection is over. Room for a call's arguments and for secrets. */
export const serveLineBytesMax = 4 * 1024 * 1024;

/** UTF-16 units of text, and of base64, in one line. */
export const pieceUnitsMax = 256 * 1024;

/** Bytes of what one result keeps beside its text. Past it the rest is named and not kept. */
export const keptBytesMax = 16 * 1024 * 1024;

/** Images, sounds and blobs of one result. Past it the rest is named and not kept. */
export const keptMax = 64;

/** A server as its configuration has it; `${VAR}` stands unexpanded. */
export interface WireEntry {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export interface OpenFrame {
  readonly kind: "open";
  /** Path in the view. */
  readonly config: string;
  readonly server: string;
  /** Folder of the view that the server is told of, and starts in unless its entry says another. */
  readonly root: string;
  /** Milliseconds from the start of the server until it has to be ready. */
  readonly start_ms: number;
}

export interface StartFrame {
  readonly kind: "start";
  /** Values of the variables that the entry names. */
  readonly values: Readonly<Record<string, string>>;
}

export interface CallFrame {
  readonly kind: "call";
  readonly id: number;
  /** As the server calls it. */
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** SHA-256 of the definition that was installed, in hexadecimal. */
  readonly definition: string;
  /** Milliseconds without progress. */
  readonly idle_ms: number;
  readonly total_ms: number;
}

export interface CancelFrame {
  readonly kind: "cancel";
  readonly id: number;
}

export type HostFrame = OpenFrame | StartFrame | CallFrame | CancelFrame;

/** A place of an entry where a variable stands. */
export interface WireVariable {
  readonly name: string;
  /** As `env.TOKEN` or `args[1]`. */
  readonly field: string;
  /** It has a default in the configuration. */
  readonly optional: boolean;
}

/** The server's entry was read; the values of its variables are wanted. */
export interface EntryFrame {
  readonly kind: "entry";
  readonly entry: WireEntry;
  readonly variables: readonly WireVariable[];
}

/** It cannot be opened; nothing follows. */
export interface FailedFrame {
  readonly kind: "failed";
  readonly code: Code;
  readonly message: string;
}

export interface ReadyFrame {
  readonly kind: "ready";
}

export interface ProgressFrame {
  readonly kind: "progress";
  readonly id: number;
  readonly text: string;
}

/** A piece of a result's text. */
export interface TextFrame {
  readonly kind: "text";
  readonly id: number;
  readonly text: string;
}

/** A piece of the bytes numbered `index`, in base64 of whole triples but for the last. */
export interface KeepFrame {
  readonly kind: "keep";
  readonly id: number;
  readonly index: number;
  readonly data: string;
}

export interface ResultFrame {
  readonly kind: "result";
  readonly id: number;
  readonly status: "ok" | "error";
  readonly code?: Code;
  /** The server is gone: no further call is to be made here. */
  readonly over?: true;
}

export type ServeFrame =
  | EntryFrame
  | FailedFrame
  | ReadyFrame
  | ProgressFrame
  | TextFrame
  | KeepFrame
  | ResultFrame;
