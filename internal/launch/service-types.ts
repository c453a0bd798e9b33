// A program that serves the calls of one run: a sandbox like that of a call, without the run's
// capability socket, that stays until it is ended.

import type { Connection } from "../sock/mod.ts";
import type { LaunchRequest, StandbyRequest } from "./types.ts";

/** Services at once, of all runs. Past it `busy`: a run that waits for one would hold its others. */
export const servicesMax = 32;

export interface ServiceRequest extends Omit<StandbyRequest, "control"> {
  /** What it serves; its environment is that of a call of this tool. */
  readonly tool: LaunchRequest["tool"];
  /** Its program and arguments, in the view. */
  readonly program: readonly string[];
  /** One line from it. Past it EMSGSIZE, and nothing more is read. */
  readonly lineBytesMax: number;
}

export interface RunningService {
  /** Over its standard input, which is a socket. */
  readonly connection: Connection;
  /** What it last wrote to standard error. */
  stderr(): string;
  /** Its exit status; 128 and the number for a signal. */
  readonly exited: Promise<number>;
  /** View paths of `.git` entries that appeared since the last question. */
  newGit(): readonly string[];
  /** Closes the connection, waits `graceMs` for its end, ends all of it; resolves when it is gone. */
  end(graceMs: number): Promise<void>;
}

export interface ServiceLauncher {
  /** The working folder that it would start in, in the view. Throws a refusal. */
  serviceFolder(request: ServiceRequest): string;
  /** Rejects with the reason when it cannot be started. */
  startService(request: ServiceRequest, signal: AbortSignal): Promise<RunningService>;
}
