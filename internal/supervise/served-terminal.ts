// A terminal as the one who serves its capability socket knows it.

import type { Receipt } from "../receipt/mod.ts";
import { living } from "./processes.ts";
import type { ReadyTerminal } from "./types.ts";

/** `receipt` gives what is known by then: the processes come after the socket. */
export function servedTerminal(id: string, receipt: () => Receipt): ReadyTerminal {
  const { agent, session, owner, control, view, workspace } = receipt();
  return {
    ...{ id, agent, session, scope: { kind: "private" }, peerUid: owner, folder: control },
    viewDigest: view,
    ...(workspace === undefined ? {} : { workspace }),
    roots: () => living([receipt().root]),
  };
}
