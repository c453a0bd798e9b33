// Becoming somebody else on the way to a program. Only root can; a user's agents keep its identity.

import { statSync } from "node:fs";
import { fail } from "../abi/mod.ts";
import { hostProgram } from "./programs.ts";

export interface Identity {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
}

/**
 * The start of a command line; empty when nothing changes. `pdeathsig` also ties the program to the
 * life of the thread that spawns it; bubblewrap does that itself, and at a better moment.
 */
export function identityProgram(
  identity: Identity | undefined,
  options: { readonly pdeathsig: boolean } = { pdeathsig: false },
): string[] {
  if (identity === undefined && !options.pdeathsig) return [];
  const setpriv =
    hostProgram("setpriv") ??
    fail("EHOSTDOWN", "cannot change identity: no setpriv on this host", {
      hint: "apt-get install util-linux",
    });
  const death = options.pdeathsig ? ["--pdeathsig", "KILL"] : [];
  return [setpriv, ...identityOptions(identity), ...death, "--no-new-privs", "--"];
}

/** Set-user-ID and set-group-ID. */
const elevatingBits = 0o6000;

/**
 * A command line for bubblewrap, and the identity that the spawn itself takes on. A setpriv in between
 * costs a launch 4 ms. The spawn drops every supplementary group and can set none, and bubblewrap
 * forbids new privileges itself; one that is installed set-user-ID must never have had any.
 */
export function bubblewrapAs(
  identity: Identity | undefined,
  bwrap: string,
): { readonly argv: string[]; readonly become: { readonly uid?: number; readonly gid?: number } } {
  const direct = identity?.groups.length === 0 && (statSync(bwrap).mode & elevatingBits) === 0;
  if (!direct) return { argv: [...identityProgram(identity), bwrap], become: {} };
  return { argv: [bwrap], become: { uid: identity.uid, gid: identity.gid } };
}

function identityOptions(identity: Identity | undefined): string[] {
  if (identity === undefined) return [];
  const { uid, gid, groups } = identity;
  const list = groups.length === 0 ? ["--clear-groups"] : ["--groups", groups.join(",")];
  return ["--reuid", `${uid}`, "--regid", `${gid}`, ...list];
}
