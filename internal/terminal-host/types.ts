// What whoever keeps terminals tells the host of their calls.

import type { Server } from "../authority/mod.ts";
import type { CallRequest, Reply } from "../capability/mod.ts";
import type { CallPlanner } from "../launch/mod.ts";
import type { ProcessStamp } from "../os/mod.ts";
import type { TerminalCalls } from "../run/mod.ts";
import type { RunSockets } from "../run-socket/mod.ts";
import type { Tree } from "../tree/mod.ts";

/** A terminal that is about to run, or was found running. */
export interface HostedTerminal {
  readonly id: string;
  readonly agent: string;
  readonly session: string;
  readonly scope: { readonly kind: "private" };
  /** The uid that its processes have on the host. */
  readonly peerUid: number;
  /** Host folder that its sandbox sees at /run/cortexfs. */
  readonly folder: string;
  /** The launch roots that live now. */
  roots(): readonly ProcessStamp[];
  /** `viewDigest` of what it was launched with. */
  readonly viewDigest: string;
  readonly workspace?: string;
}

/** Whose program asks for a call. */
export type CallingTerminal = Pick<HostedTerminal, "id" | "agent" | "session" | "workspace">;

export interface TerminalHostOptions {
  readonly sockets: Pick<RunSockets, "openTerminal">;
  readonly tree: Tree;
  readonly server: Server;
  readonly planner: CallPlanner;
  /**
   * Does the word as a job of the session, and gives what came of it as text. `signal`: one that has not
   * begun is not to be done any more. Throws the coded reason of a refusal.
   */
  word(terminal: HostedTerminal, args: readonly string[], signal: AbortSignal): Promise<string>;
  /** Makes a call that a program of the terminal asks for, of a tool that a server has. */
  call(terminal: CallingTerminal, request: CallRequest, signal: AbortSignal): Promise<Reply>;
}

export interface TerminalHost extends TerminalCalls {
  /** Its capability socket is served until it is closed. */
  open(terminal: HostedTerminal): void;
  /** Resolves when nothing of it is served; calls that it had are lost. */
  close(id: string): Promise<void>;
  /** All of them; the terminals run on. */
  closeAll(): Promise<void>;
}
