// A terminal as a launch: what it is asked, and the plan as a value that another process carries out.

import type { Code } from "../abi/mod.ts";
import type { RunningSandbox, StandingSandbox } from "../bwrap/mod.ts";
import type { MountLine } from "../control/mod.ts";
import type { LaunchPlan } from "./plan.ts";
import type { StandbyRequest } from "./types.ts";

export interface TerminalRequest
  extends Pick<
    StandbyRequest,
    "agent" | "controls" | "session" | "home" | "network" | "visible" | "models" | "cwd"
  > {
  /** Host folder of the terminal's capability socket, which becomes /run/cortexfs. */
  readonly control: string;
  /** What the person adds to the agent's own mounts. Its line for /workspace is the workspace. */
  readonly mounts: readonly MountLine[];
  /** Runs in the terminal in place of the tool shell. */
  readonly command?: readonly string[] | undefined;
}

/** Everything of a launch plan that its carrying out needs. */
export type TerminalLaunch = Pick<LaunchPlan, "spec" | "identity" | "network" | "expected">;

export interface TerminalPlan {
  readonly agent: string;
  readonly session: string;
  readonly launch: TerminalLaunch;
  /** The first program in the sandbox with its arguments. */
  readonly program: readonly string[];
  readonly workspace: string | undefined;
  /** `viewDigest` of what it was planned from. */
  readonly view: string;
}

export interface TerminalIo {
  readonly signal: AbortSignal;
  /** The listening socket, which becomes the program's standard input. */
  readonly listening: number;
  /** Called when the sandbox stands and before anything of it runs; a rejection ends it. */
  standing(sandbox: StandingSandbox): Promise<void>;
}

export interface RunningTerminal extends RunningSandbox {
  /** Gives back what the sandbox had beside itself; called once it is gone. */
  end(): Promise<void>;
}

/** Plans terminals with the same folders as calls. */
export interface TerminalPlanner {
  /** Throws everything that would keep it from being started and can be known beforehand. */
  planTerminal(request: TerminalRequest): TerminalPlan;
}

export interface TerminalRefusal {
  readonly code: Code;
  readonly message: string;
}
