// Who wrote the identity that an agent asks for. A root server can become anybody, so a user who may
// write an agent's `uid`, `gid` or `groups` must not get more by it than that user has: only what
// root alone could write is taken at its word.

import { readFileSync } from "node:fs";
import { hostRoot, statBeneath } from "../os/mod.ts";
import { type Sight, type Tree, whileSame } from "../tree/mod.ts";
import type { Definer } from "./types.ts";

const identity = ["owner", "uid", "gid", "groups"] as const;

/** Undefined when only root could have. */
export function definerOf(tree: Tree, agent: string): Definer | undefined {
  const folder = `agent/${agent}.d`;
  const places = () => [
    { folder: ".", names: ["agent"] },
    { folder: "agent", names: [`${agent}.d`] },
    { folder, names: identity },
  ];
  const writers = whileSame(tree, `writers of ${folder}`, places, (sight) =>
    writersOf(tree, agent, sight),
  );
  const [uid = 0, another] = writers;
  // Files of several users in one agent: none of them can have meant the whole.
  if (another !== undefined) return { uid, gids: [], several: true };
  return uid === 0 ? undefined : { uid, gids: groupsOf(uid), several: false };
}

/** The users other than root who could write the agent's identity. */
function writersOf(tree: Tree, agent: string, sight: Sight): readonly number[] {
  const ownerOf = (folder: string, name: string): number | undefined => {
    const found = sight.of(folder, name);
    return found === undefined ? ownerNow(tree, `${folder}/${name}`) : found.facts?.uid;
  };
  const owners = identity.flatMap((control) => ownerOf(`agent/${agent}.d`, control) ?? []);
  // Whoever owns a folder can put other files in it, of its own or moved there.
  const owner = ownerOf("agent", `${agent}.d`);
  const writers = new Set([...owners, owner ?? 0].filter((uid) => uid !== 0));
  return writers.size > 0 ? [...writers] : [ownerOf(".", "agent") ?? 0];
}

/** Nobody owns what is not there, and a symlink is taken for nothing since nothing reads it. */
function ownerNow(tree: Tree, path: string): number | undefined {
  try {
    return statBeneath(tree.folder, path).uid;
  } catch {
    return undefined;
  }
}

const host = { folder: hostRoot };
const accounts = () => [{ folder: "/etc", names: ["passwd", "group"] }];

/** By the host's own files; a uid that they do not know has the group of its number. */
function groupsOf(uid: number): readonly number[] {
  const own = String(uid);
  try {
    return whileSame(host, own, accounts, () => {
      const account = rows("/etc/passwd").find(([, , id]) => id === own);
      if (account === undefined) return [uid];
      const [name = "", , , primary] = account;
      const member = rows("/etc/group").filter((row) => row[3]?.split(",").includes(name));
      return [primary, ...member.map((row) => row[2])].map(Number);
    });
  } catch {
    return [uid];
  }
}

/** What cannot be read for another reason than that it is not there is not taken for empty for good. */
function rows(path: string): string[][] {
  try {
    const lines = readFileSync(path, "utf8").split("\n");
    return lines.map((line) => line.split(":"));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}

const codeOf = (error: unknown) => (error as { code?: string }).code ?? "";
