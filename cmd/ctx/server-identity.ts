// Who the server is, for decisions: the one that runs if one runs, else the one that would.

import { askControl } from "../../internal/client/mod.ts";
import { supplementaryGroups } from "../../internal/os/mod.ts";
import type { Places } from "../../internal/tree/mod.ts";

export interface ServerIdentity {
  readonly uid: number;
  readonly groups: readonly number[];
  readonly rootAgents: boolean;
}

export async function serverIdentity(places: Places): Promise<ServerIdentity> {
  // Loaded here because the server's own code is behind the same door.
  const { loadSettings } = await import("../../internal/daemon/mod.ts");
  const { rootAgents } = loadSettings(places.config);
  let uid = places.uid;
  try {
    const reply = await askControl(places, "ping");
    if (reply.type === "pong") uid = reply.uid;
  } catch {
    // Nobody serves this tree now: then it is the caller who would.
  }
  return { uid, groups: supplementaryGroups(), rootAgents };
}
