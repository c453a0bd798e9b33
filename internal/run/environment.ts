// What a run needs from its host, and what one run carries through its steps.

import type { Server } from "../authority/mod.ts";
import type { ModelChoice } from "../control/mod.ts";
import type { Launcher } from "../launch/mod.ts";
import type { ToolServers } from "../mcp-host/mod.ts";
import type { ModelClient } from "../model/mod.ts";
import type { RunSockets } from "../run-socket/mod.ts";
import type { Places, Tree } from "../tree/mod.ts";
import type { RunFolder } from "./run-folder.ts";
import type { TerminalCalls } from "./terminal-calls.ts";

export interface ExecutorOptions {
  readonly tree: Tree;
  readonly places: Places;
  readonly launcher: Launcher;
  readonly server: Server;
  /** Model calls of one run that may be answered by tool calls. Past it the run fails, EMSGSIZE. */
  readonly modelSteps: number;
  /** Milliseconds that one tool call may take when it does not say so itself. */
  readonly toolTimeoutMs: number;
  /** Milliseconds that one step of an executable agent may take. Past it the run fails, ETIMEDOUT. */
  readonly stepTimeoutMs: number;
  /** Serves what the programs of a run may ask of their host; without it they can ask nothing. */
  readonly sockets?: Pick<RunSockets, "place" | "lease" | "release" | "open">;
  /** Serves the tools that servers have; without it such a tool cannot be run. */
  readonly servers?: Pick<ToolServers, "call" | "over">;
  /** Runs the calls of a session's tool shell where a person can watch; without it none is run there. */
  readonly terminals?: TerminalCalls;
  /** Makes a client of a model; the product's own unless a test puts another in its place. */
  readonly resolve?: ResolveModel;
}

/** The host's options with what one run adds to them. */
export interface RunOptions extends ExecutorOptions {
  /** Opens the run's capability socket, before the first program of the run is started. */
  readonly serve?: () => void;
  /** What its sandboxes see of that socket. */
  readonly folder: RunFolder;
}

export type ResolveModel = (input: {
  readonly tree: Tree;
  readonly places: Places;
  readonly choice: ModelChoice;
}) => ModelClient;
