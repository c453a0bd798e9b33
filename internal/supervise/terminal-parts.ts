// What one terminal is given by the server that has it.

import type { Receipts } from "../receipt/mod.ts";
import type { Endpoint } from "./endpoint.ts";
import type { LogFields } from "./options.ts";
import type { Resource } from "./resource.ts";
import type { Terminal } from "./terminal.ts";
import type { Supervisor, TerminalService } from "./types.ts";

export interface TerminalParts {
  readonly receipts: Receipts;
  readonly resource: Resource;
  readonly endpoint: Endpoint;
  readonly supervisor: Supervisor;
  readonly service: TerminalService | undefined;
  now(): Date;
  log(event: string, fields: LogFields): void;
  /** Whether another terminal that lives has this id: that of `a-b` with `c` is that of `a` with `b-c`. */
  isTaken(id: string, by: Terminal): boolean;
  /** Called once, when nothing of it is left. */
  over(terminal: Terminal): void;
}
