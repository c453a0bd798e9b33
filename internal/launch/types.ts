// What a launch is asked and what it answers. Everything in a request was decided already: the tool
// may run, its arguments fit its schema, the network was granted or not.

import type { Code } from "../abi/mod.ts";
import type { AgentControls } from "../control/mod.ts";
import type { Scope } from "../interaction/mod.ts";
import type { ProcessStamp } from "../os/mod.ts";
import type { Places, ToolObject, Tree } from "../tree/mod.ts";
import type { StepIo, StepOutcome, StepRequest } from "./step-types.ts";

export interface LauncherOptions {
  readonly places: Places;
  /** `treeRuntime(places)`; generated folders go below its `view`. */
  readonly runtime: string;
  readonly tree: Tree;
  /** Bound at /ctx/bin/ctx; the other binaries are looked for beside it. */
  readonly ctxBinary: string;
  readonly serverUid: number;
  readonly rootAgents: boolean;
  /** Sandboxes at once; further launches wait in the order in which they came. */
  readonly parallelMax: number;
  /** Milliseconds that a resting sandbox waits for a run; at most a minute, as without it. */
  readonly standbyMs?: number;
}

export interface LaunchRequest {
  readonly agent: string;
  readonly controls: AgentControls;
  readonly session: string;
  readonly run: string;
  readonly scope: Scope;
  /** Host path of the agent's home, below the tree. */
  readonly home: string;
  readonly tool: ToolObject;
  /** Checked against the tool's schema. */
  readonly args: unknown;
  /** Host folder that becomes /workspace. */
  readonly workspace?: string | undefined;
  /** Path in the view. */
  readonly cwd?: string | undefined;
  readonly network: boolean;
  /** The tools that exist in the view. */
  readonly visible: readonly ToolObject[];
  /** The models that exist in the view. */
  readonly models: readonly VisibleModel[];
  /** Host folder of the run's capability socket, which becomes /run/cortexfs. */
  readonly control?: string | undefined;
  readonly timeoutMs: number;
  /** What was approved. A launch that would be another one in any part is refused, ECANCELED. */
  readonly approved?: PreparedCall;
}

/** A model that the agent may use, as an executable of the view. */
export interface VisibleModel {
  /** Where an agent sees it, e.g. "/ctx/model/debug/echo". */
  readonly viewPath: string;
  readonly hostPath: string;
}

export type PreparedPart =
  | "tool"
  | "executable"
  | "arguments"
  | "cwd"
  | "folders"
  | "identity"
  | "network"
  | "environment"
  | "limit";

/** A call as it would be run. */
export interface PreparedCall {
  /** The working folder, in the view. */
  readonly cwd: string;
  readonly parts: Readonly<Record<PreparedPart, string>>;
}

export interface LaunchIo {
  readonly signal: AbortSignal;
  /** Live output, cut at characters. */
  onOutput(text: string): void;
}

export interface LaunchOutcome {
  readonly status: "ok" | "error";
  readonly code?: Code;
  readonly output: string;
  /** Bytes dropped from the middle, beyond `toolOutputBytesMax`. */
  readonly dropped: number;
  /** Undefined when the program never ran or was stopped. */
  readonly exit: number | undefined;
  /** View paths of `.git` entries that appeared during the call. */
  readonly newGit: readonly string[];
}

/** One sandbox that is up, for whoever must tell its processes from others. */
export interface LiveLaunch {
  readonly root: ProcessStamp;
  readonly agent: string;
  readonly session: string;
  readonly run: string;
}

/** A launch whose tool is not known yet. */
export type StandbyRequest = Omit<LaunchRequest, "tool" | "args" | "timeoutMs" | "approved">;

/**
 * Whose a prepared sandbox is: of the folder of the capability socket, which one run after another
 * has, of whichever session; where there is none, of the session.
 */
export type SessionOfAgent = Pick<LaunchRequest, "agent" | "session" | "scope" | "control">;

export interface PrepareOptions {
  /** No run of the session goes on. */
  readonly resting?: boolean;
  readonly step?: Pick<StepRequest, "program" | "window">;
}

/** The folders that a request for a run names. */
export type WorkFolders = Pick<LaunchRequest, "agent" | "controls" | "home" | "workspace" | "cwd">;

export interface Launcher {
  /** Throws the reason why no launch could have these folders; decides nothing else. */
  check(request: WorkFolders): void;
  /** The call as `run` would run it now; throws what would keep it from being started. */
  examine(request: LaunchRequest): PreparedCall;
  /** A refused or failed launch is an outcome with a code; it rejects only for a bug of ours. */
  run(request: LaunchRequest, io: LaunchIo): Promise<LaunchOutcome>;
  /**
   * Runs one step of an executable agent. A refused or failed launch is an outcome with a code; it
   * rejects for a bug of ours or of the reader.
   */
  step(request: StepRequest, io: StepIo): Promise<StepOutcome>;
  /**
   * Makes a sandbox ready for the session's next built-in tool, of whatever run, so that its call need
   * not wait for one; with `step` for the next step of the agent's program before that. Best effort:
   * never rejects, never runs anything, at most one of each a session, none while launches wait.
   */
  prepare(request: StandbyRequest, options?: PrepareOptions): void;
  /** A run of the session begins or goes on. Whether one is prepared for it already. */
  wake(session: SessionOfAgent): boolean;
  /**
   * No run uses it now: it waits for the next one, and may make room for another session's. Whether
   * there is one.
   */
  rest(session: SessionOfAgent): boolean;
  /** A run that has used none is over: what rested before it rests on, what was made for it is ended. */
  leave(session: SessionOfAgent): Promise<void>;
  /** Ends what `prepare` made for a session and waits until it is gone. */
  discard(session: SessionOfAgent): Promise<void>;
  live(): readonly LiveLaunch[];
  /** Refuses new launches, ends the running ones and waits until they are gone. */
  close(): Promise<void>;
}
