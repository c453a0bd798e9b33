// Where a call runs: in the session's terminal what the agent's tool shell is told, when a shell serves
// there; anything else in a sandbox of its own, with a line in the terminal that says so.

import { quoted } from "../abi/mod.ts";
import type { LaunchIo, LaunchOutcome, LaunchRequest } from "../launch/mod.ts";
import type { ToolObject } from "../tree/mod.ts";
import type { RunOptions } from "./environment.ts";

/** `words` are those of a call of the tool shell; undefined for a tool that was called directly. */
export async function runWhereItBelongs(
  { launcher, terminals, servers }: RunOptions,
  request: LaunchRequest,
  words: readonly string[] | undefined,
  io: LaunchIo,
): Promise<LaunchOutcome & { readonly kept?: readonly Uint8Array[] }> {
  if (request.tool.mcp !== undefined) {
    terminals?.note(request, `${quoted(request.tool.name)} runs where its server is, in a sandbox`);
    return servers === undefined ? unserved(request.tool) : servers.call(request, io);
  }
  if (terminals === undefined) return launcher.run(request, io);
  const { tool } = request;
  const apart = words === undefined ? "the model called it directly" : needOfRun(tool);
  if (apart !== undefined) {
    terminals.note(request, `${quoted(tool.name)} runs in a sandbox of its own: ${apart}`);
  } else if (words !== undefined) {
    const outcome = await terminals.run(request, words, io);
    if (outcome !== undefined) return outcome;
  }
  return launcher.run(request, io);
}

function unserved({ name }: ToolObject): LaunchOutcome {
  const output = `tool "${name}" is of a server, and this host serves none`;
  const none = { dropped: 0, exit: undefined, newGit: [] };
  return { status: "error", code: "EHOSTDOWN", output, ...none };
}

/** Tools that ask the host for something that it does for a run alone. */
function needOfRun({ builtin, name }: ToolObject): string | undefined {
  return builtin && name.startsWith("agent.") ? "it asks the host of its run" : undefined;
}
