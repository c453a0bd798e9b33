// Who wrote the identity that an agent asks for. A root server can become anybody, so a user who may
// write an agent's `uid`, `gid` or `groups` must not get more by it than that user has: only what
// root alone could write is taken at its word.

import { readFileSync } from "node:fs";
import { statBeneath } from "../os/mod.ts";
import type { Tree } from "../tree/mod.ts";
import type { Definer } from "./types.ts";

/** Undefined when only root could have. */
export function definerOf(tree: Tree, agent: string): Definer | undefined {
  const folder = `agent/${agent}.d`;
  const owners = ["owner", "uid", "gid", "groups"].flatMap(
    (control) => ownerOf(tree, `${folder}/${control}`) ?? [],
  );
  // Whoever owns a folder can put other files in it, of its own or moved there.
  // Whoever owns a folder can put other files in it, of its own or moved there.
  const owner = ownerOf(tree, folder);
  const writers = new Set([...owners, owner ?? 0].filter((uid) => uid !== 0));
  const [uid = ownerOf(tree, "agent") ?? 0, another] = writers;
  // Files of several users in one agent: none of them can have meant the whole.
  if (another !== undefined) return { uid, gids: [], several: true };
  return uid === 0 ? undefined : { uid, gids: groupsOf(uid), several: false };
}

function ownerOf(tree: Tree, path: string): number | undefined {
  try {
    return statBeneath(tree.folder, path).uid;
  } catch {
    return undefined;
  }
}

/** By the host's own files; a uid that they do not know has the group of its number. */
function groupsOf(uid: number): number[] {
  const fields = (path: string) => lines(path).map((line) => line.split(":"));
  const account = fields("/etc/passwd").find(([, , id]) => id === String(uid));
  if (account === undefined) return [uid];
  const [name = "", , , primary] = account;
  const member = fields("/etc/group").filter((row) => row[3]?.split(",").includes(name));
  return [primary, ...member.map((row) => row[2])].map(Number);
}

function lines(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n");
  } catch {
    return [];
  }
}
