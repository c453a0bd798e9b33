// What the terminals of a server are made with.

import type { TerminalPlanner } from "../launch/mod.ts";
import type { FileOwner } from "../os/mod.ts";
import type { Places, Tree } from "../tree/mod.ts";
import type { SuperviseLimits, Supervisor, TerminalService, TerminalView } from "./types.ts";

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export interface TerminalsOptions {
  readonly tree: Tree;
  readonly places: Places;
  /** `treeRuntime(places)`. */
  readonly runtime: string;
  readonly planner: TerminalPlanner;
  /** The command line of this version's ctxd, up to its subcommand. */
  readonly ctxd: readonly string[];
  /** In the order in which they are tried; one that cannot start anything says so. */
  readonly supervisors: readonly Supervisor[];
  readonly limits: SuperviseLimits;
  /** Serves the capability sockets, when there is somebody who does. */
  readonly service?: TerminalService;
  /** What the agent's sandbox would be now, and who owns its files. */
  view(agent: string): { readonly view: TerminalView; readonly owner: FileOwner };
  /** Who owns an agent's files, as far as is known without its controls. */
  ownerOf(uid: number): FileOwner;
  now(): Date;
  log(event: string, fields: LogFields): void;
}
