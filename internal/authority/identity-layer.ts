// Can the server run anything as this agent. A server that is not root can change neither uid nor
// gid nor drop or add a group, so the agent's identity must be the server's own. A server that is
// root can do all of that, so what a user has written is held to what that user is.

import { allows, refuses } from "./layer.ts";
import type { Definer, Facts, LayerVerdict } from "./types.ts";

export function identityLayer(facts: Facts): LayerVerdict {
  const { uid, gid, groups, serverUid, serverGid, serverGroups, rootAgents } = facts.identity;
  if (uid === 0 && !rootAgents) {
    const because = "uid is 0, no agent runs as root unless the host setting root_agents is allow";
    return refuses("identity", because, { at: `${facts.controls}/uid` });
  }
  if (serverUid === 0) {
    const { definer } = facts.identity;
    const refusal = definer && beyond(facts, definer);
    return refusal ?? allows("identity", `runs as uid ${uid}, gid ${gid}`);
  }
  if (uid !== serverUid) return mismatch(facts, "uid", uid, serverUid);
  if (gid !== serverGid) return mismatch(facts, "gid", gid, serverGid);
  // The primary gid may or may not be repeated among the supplementary ones; it means the same.
  const wanted = ascending(groups, gid);
  const present = ascending(serverGroups, gid);
  if (wanted.join() === present.join()) {
    return allows("identity", `runs as uid ${uid}, gid ${gid}, like ctxd`);
  }
  const file = `${facts.controls}/groups`;
  const because =
    `groups are ${list(wanted)}, ctxd has ${list(present)} and is not root, ` +
    "so it can neither add nor drop one";
  if (present.length > 0) {
    return refuses("identity", because, { at: file, fix: { file, line: present.join("\n") } });
  }
  return refuses("identity", `${because}; the file must be empty`, { at: file });
}

/** The refusal when an identity is more than the user who may write it. */
function beyond(facts: Facts, { uid, gids, several }: Definer): LayerVerdict | undefined {
  const { identity, controls } = facts;
  if (several) {
    const because = `files of ${controls} belong to several users, so none of them says who it is`;
    return refuses("identity", because, { at: controls });
  }
  const refusal = (control: string, is: number, fix: string) => {
    const because = `${control} names ${is}, which uid ${uid}, who may write it, is not or not in`;
    const file = `${controls}/${control}`;
    return refuses("identity", because, { at: file, ...(fix && { fix: { file, line: fix } }) });
  };
  if (identity.uid !== uid) return refusal("uid", identity.uid, String(uid));
  if (!gids.includes(identity.gid)) return refusal("gid", identity.gid, String(gids[0]));
  const group = identity.groups.find((gid) => !gids.includes(gid));
  if (group === undefined) return undefined;
  const rest = identity.groups.filter((gid) => gids.includes(gid));
  return refusal("groups", group, rest.join("\n"));
}

function mismatch(facts: Facts, what: "uid" | "gid", is: number, must: number): LayerVerdict {
  const file = `${facts.controls}/${what}`;
  const because = `${what} is ${is}, ctxd has ${must} and is not root, so it cannot change it`;
  return refuses("identity", because, { at: file, fix: { file, line: String(must) } });
}

function ascending(groups: readonly number[], without: number): number[] {
  return [...new Set(groups)].filter((group) => group !== without).sort((a, b) => a - b);
}

function list(groups: readonly number[]): string {
  return groups.length === 0 ? "none" : groups.join(" ");
}
