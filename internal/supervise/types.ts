// The seams of supervision: what a supervisor does with one launch, and what the server asks of the
// terminals. A supervisor knows nothing of terminals; it starts one process, finds it and ends it.

import type { StandbyRequest } from "../launch/mod.ts";
import type { ProcessStamp } from "../os/mod.ts";
import type { Receipt, SupervisorName } from "../receipt/mod.ts";

/** Where nothing is said the supervisor sets no limit; what the host cannot limit is left out. */
export interface SuperviseLimits {
  readonly memoryBytesMax?: number;
  readonly tasksMax?: number;
  /** Percent of one processor. */
  readonly cpuPercentMax?: number;
}

export interface SuperviseSpec {
  /** The whole command line; the environment of the process is empty but for PATH. */
  readonly argv: readonly string[];
  readonly uid: number;
  /** The rest of the identity; of use to a supervisor that is root. */
  readonly gid: number;
  readonly groups: readonly number[];
  /** A unit's name without suffix, made of `A-Za-z0-9:_.-`, at most 200 bytes. */
  readonly unit: string;
  readonly description: string;
  readonly limits: SuperviseLimits;
}

export interface Supervised {
  readonly pid?: number;
  readonly unit?: string;
  readonly invocation?: string;
  /** Resolves when it has ended, with what it said at that; not every supervisor can tell. */
  readonly ended?: Promise<string>;
}

/** What a supervisor must know of a launch to find and end it. */
export type SupervisedReceipt = Pick<
  Receipt,
  "unit" | "invocation" | "launch" | "root" | "init" | "owner" | "generation"
>;

export interface Supervisor {
  readonly name: SupervisorName;
  /** Whether it can start anything for that uid now; without it always. */
  usable?(uid: number): Promise<boolean>;
  /** Resolves once the process was started; it says by itself how it goes on. */
  start(spec: SuperviseSpec): Promise<Supervised>;
  /** SIGTERM to all of it, SIGKILL after the grace, resolves when verified gone. Acts on a match alone. */
  stop(receipt: SupervisedReceipt): Promise<void>;
  /** Whether anything of it lives. */
  alive(receipt: SupervisedReceipt): Promise<boolean>;
}

export type TerminalState = "starting" | "ready" | "exited" | "lost";

/** One terminal as it is told to clients. */
export interface TerminalFacts {
  readonly id: string;
  readonly agent: string;
  readonly session: string;
  readonly state: TerminalState;
  /** Of an exited one, as a shell says it: 0 to 255, 128 and the number for a signal. */
  readonly status?: number;
  readonly signal?: number;
  /** Host path of the socket. */
  readonly socket: string;
  /** The path by which the ABI names it, below the tree: a symlink to `socket`. */
  readonly alias: string;
  /** Folder of the resource files. */
  readonly folder: string;
  /** In the agent's view. */
  readonly cwd: string;
  readonly workspace?: string;
  readonly supervisor: SupervisorName;
  readonly unit?: string;
  readonly started_at: string;
  readonly ended_at?: string;
}

export interface StartTerminal {
  readonly agent: string;
  readonly session: string;
  readonly cwd: string | undefined;
  /** Lines of the mount control's form. */
  readonly mounts: readonly string[];
  /** Without it the tool shell. */
  readonly command: readonly string[] | undefined;
}

/** A terminal that calls can be run in. */
export interface ReadyTerminal {
  readonly id: string;
  readonly agent: string;
  readonly session: string;
  readonly scope: { readonly kind: "private" };
  readonly peerUid: number;
  /** Host folder of its capability socket; it outlives this server. */
  readonly folder: string;
  roots(): readonly ProcessStamp[];
  readonly viewDigest: string;
  readonly workspace?: string;
}

/** Whoever serves the capability socket of terminals: opened before a terminal runs, closed after. */
export interface TerminalService {
  open(terminal: ReadyTerminal): void;
  close(id: string): Promise<void> | void;
}

export interface Terminals {
  /**
   * The session's terminal, which is started if there is none: two at once give one. Throws `busy`
   * past `terminalsMax` of a user, EACCES and ENOENT for folders, and what kept it from starting.
   */
  start(request: StartTerminal): Promise<TerminalFacts>;
  /** Ends it and waits until all of it is gone. ENOENT when there was never one. */
  stop(agent: string, session: string): Promise<TerminalFacts>;
  /** Those of the agent that live. */
  list(agent: string): readonly TerminalFacts[];
  ready(agent: string, session: string): ReadyTerminal | undefined;
  /** Lets go of all; they run on. */
  close(): Promise<void>;
}

/** What an agent's sandbox would be now, without the folders that a start brings. */
export type TerminalView = Pick<
  StandbyRequest,
  "controls" | "home" | "network" | "visible" | "models"
>;
