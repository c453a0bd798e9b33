// What a run gives its capability socket, and what it gets.

import type { Code } from "../abi/mod.ts";
import type {
  AuthorizeRequest,
  CallRequest,
  HostLine,
  ModelPart,
  ModelUseRequest,
  Refusal,
  Reply,
  ShellLine,
  UpdateRequest,
  WordRequest,
} from "../capability/mod.ts";
import type { ProcessStamp } from "../os/mod.ts";

/** A part of a model's answer; the socket adds the request's id, the run and an id of its own. */
export type ModelFrame =
  | { readonly type: "delta" | "reasoning_delta"; readonly text: string }
  | { readonly type: "message"; readonly content: readonly ModelPart[] }
  | { readonly type: "usage"; readonly input_tokens: number; readonly output_tokens: number }
  | { readonly type: "error"; readonly code: Code; readonly message: string };

export interface ModelEnd {
  readonly status: "ok" | "error" | "cancelled";
  readonly code?: Code;
}

/**
 * Called only for a peer of the run, with a request that is well formed and has a fresh id; an
 * update is the run's own. A thrown CodedError is a refusal.
 */
export interface RunSocketHandlers {
  update(request: UpdateRequest): Promise<Reply | Refusal>;
  authorize(request: AuthorizeRequest): Promise<Reply | Refusal>;
  /** `signal`: nobody waits for the answer any more. */
  call(request: CallRequest, signal: AbortSignal): Promise<Reply | Refusal>;
  /**
   * The text of one frame is at most `frameTextUnitsMax`. A producer awaits what `emit` returns
   * before its next frame. What is thrown before the first frame refuses the request; afterwards it
   * ends the answer with an error. `signal`: nobody waits for the answer any more.
   */
  useModel(
    request: ModelUseRequest,
    emit: (frame: ModelFrame) => Promise<void> | undefined,
    signal: AbortSignal,
  ): Promise<ModelEnd>;
}

/** The shell of a terminal that offered to run calls, as long as its connection is. */
export interface ServingShell {
  /** A returned promise means that the kernel did not take all of it. */
  send(line: HostLine): Promise<void> | undefined;
  /** Tells why, and cuts the connection. */
  cut(because: string): void;
}

export interface ShellListener {
  /** The offer was answered; from here on lines may be sent. */
  begun(): void;
  line(line: ShellLine): void;
  /** Nothing more comes; called once. */
  left(): void;
}

/** Under the same conditions as those of a run. */
export interface TerminalSocketHandlers {
  authorize(request: AuthorizeRequest): Promise<Reply | Refusal>;
  call(request: CallRequest, signal: AbortSignal): Promise<Reply | Refusal>;
  /** Throws `busy` while another one serves. */
  serve(shell: ServingShell): ShellListener;
  /**
   * What came of the word, as text, once the session's turn has come to it. `signal`: nobody waits for
   * the answer any more, and what has not begun is not to be done.
   */
  word(request: WordRequest, signal: AbortSignal): Promise<string>;
}

export interface OpenTerminal {
  /** What stands for a run in what is recorded. */
  readonly id: string;
  readonly agent: string;
  readonly session: string;
  readonly peerUid: number;
  /** A folder that outlives this server: the terminal does too. */
  readonly folder: string;
  /** The launch roots of the terminal that live now. */
  roots(): readonly ProcessStamp[];
  readonly handlers: TerminalSocketHandlers;
}

export interface OpenRun {
  readonly agent: string;
  readonly session: string;
  readonly run: string;
  /** The uid that the run's processes have on the host. */
  readonly peerUid: number;
  /** A path that `lease` gave to the run, or `place` to nobody. */
  readonly folder: string;
  readonly handlers: RunSocketHandlers;
}

/** Whose run wants a folder. It gets one of the same agent, scope and uid alone. */
export interface RunPlace {
  readonly agent: string;
  /** Has the folder of its last run again if it is free. */
  readonly session: string;
  readonly scope: string;
  readonly peerUid: number;
}

export interface RunSocket {
  /** Host folder that holds `control.sock`; it is bound read-only at /run/cortexfs. */
  readonly folder: string;
  /** Cuts every connection, waits for the handlers, removes the socket. */
  close(): Promise<void>;
}

export interface RunSocketsOptions {
  /** `treeRuntime(places)`; the folders go below its `capability`, which belongs to one server. */
  readonly runtime: string;
  /** The launch roots of a run that live now. */
  roots(run: string): readonly ProcessStamp[];
  /** Gets what a handler threw that is no CodedError: a bug, which the peer is told of as EIO. */
  onFault?(error: unknown): void;
}

export interface RunSockets {
  /** Path of the folder that the next run of the place would get now, for a sandbox built before it. */
  place(place: RunPlace): string;
  /** The folder of a run, which no other one has until `release`; the same however often it is asked. */
  lease(place: RunPlace, run: string): string;
  /** The run is over and its socket is closed: its folder is the next one's. */
  release(run: string): void;
  open(run: OpenRun): RunSocket;
  /** Serves a terminal's own socket, until it is closed; what an earlier server left there is replaced. */
  openTerminal(terminal: OpenTerminal): RunSocket;
  /** Takes every folder away; no run is open any more. */
  close(): void;
}
