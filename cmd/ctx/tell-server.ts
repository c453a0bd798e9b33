// Tells a running server that the tree's agents have changed. No server is fine: the next one looks
// for itself.

import { coded, fail } from "../../internal/abi/mod.ts";
import { note } from "../../internal/cli/mod.ts";
import { askControl, serverCandidates } from "../../internal/client/mod.ts";
import type { Places } from "../../internal/tree/mod.ts";

/** True when a server serves the agent now. What keeps it from that is said on standard error. */
export async function tellServer(places: Places, agent: string): Promise<boolean> {
  for (const candidate of serverCandidates(places)) {
    try {
      const reply = await askControl(candidate, "rescan");
      if (reply.type !== "rescan") fail("EIO", `the server answers "${reply.type}"`);
      const fault = reply.faults.find((one) => one.agent === agent);
      if (fault !== undefined) note(`ctxd does not serve ${agent}: ${fault.message}`);
      return reply.agents.includes(agent);
    } catch (error) {
      const { code, message } = coded(error);
      if (code !== "EHOSTDOWN") note(`ctxd was not told: ${message} [${code}]`);
    }
  }
  return false;
}
