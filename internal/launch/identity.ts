// As whom an agent runs. Nothing of an agent runs with the kernel's uid 0 unless the host says so.

import { fail } from "../abi/mod.ts";
import type { Identity } from "../bwrap/mod.ts";
import type { AgentControls } from "../control/mod.ts";

export interface RuntimeIdentity {
  readonly uid: number;
  readonly gid: number;
  /** What must be changed before bubblewrap starts; undefined when the server is it already. */
  readonly become: Identity | undefined;
  /** The kernel's uid 0: parts of /proc are masked and processes are counted another way. */
  readonly kernelRoot: boolean;
}

/** Throws EACCES when this server cannot run the agent. `serverGid` is what a user's agent keeps. */
export function runtimeIdentity(
  agent: string,
  controls: Pick<AgentControls, "uid" | "gid" | "groups">,
  server: { readonly uid: number; readonly gid: number; readonly rootAgents: boolean },
): RuntimeIdentity {
  const { uid, gid, groups } = controls;
  if (uid === 0 && !(server.uid === 0 && server.rootAgents)) {
    return fail("EACCES", `agent "${agent}" may not run as uid 0`, {
      hint: "set its uid control to another user, or root_agents=allow in ctxd.conf",
    });
  }
  if (server.uid === 0) {
    return { uid, gid, become: { uid, gid, groups }, kernelRoot: uid === 0 };
  }
  if (uid !== server.uid) {
    return fail("EACCES", `agent "${agent}" runs as uid ${uid}, ctxd is uid ${server.uid}`, {
      hint: "start ctxd as root to serve other users",
    });
  }
  return { uid, gid: server.gid, become: undefined, kernelRoot: false };
}
