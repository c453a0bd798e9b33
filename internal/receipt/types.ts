// What is known of one launch that outlives its server: enough to find it again, to tell it from
// anything that has its pids later, and to end it and nothing else.

import type { ProcessStamp } from "../os/mod.ts";

export type SupervisorName = "systemd" | "builtin";

export interface Receipt {
  readonly kind: "terminal";
  /** `terminal-<agent>-<session>`. */
  readonly id: string;
  readonly agent: string;
  readonly session: string;
  readonly scope: "private";
  /** Whose it is, and as whom it runs. */
  readonly owner: number;
  /** 32 hex digits, new with each start; also what the launch shows when it asks for its plan. */
  readonly generation: string;
  readonly supervisor: SupervisorName;
  /** Of systemd: the unit and its InvocationID. */
  readonly unit?: string;
  readonly invocation?: string;
  /** The `ctxd launch` process; absent until it has asked for its plan. */
  readonly launch?: ProcessStamp;
  /** bubblewrap's outer process, to which capabilities are bound; recorded before its gate opens. */
  readonly root?: ProcessStamp;
  /** Process 1 of the sandbox: once it is gone, so is all that ran inside. */
  readonly init?: ProcessStamp;
  /** Host path of the listening socket. */
  readonly socket: string;
  /** Host folder that the sandbox sees at /run/cortexfs. */
  readonly control: string;
  /** Host folder of the terminal's resource files. */
  readonly folder: string;
  readonly workspace?: string;
  /** `viewDigest` of what it was launched with. */
  readonly view: string;
  /** Whether its socket has answered and its alias was verified. */
  readonly ready: boolean;
  readonly started_at: string;
}
