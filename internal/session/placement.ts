// Where a session lives, by its scope, and the key that names it among all sessions of an agent.

import { CodedError, objectName, sessionName } from "../abi/mod.ts";
import type { Scope } from "../interaction/mod.ts";

export interface Placement {
  readonly agent: string;
  readonly session: string;
  readonly scope: Scope;
  /** `private/<session>`, `shared/<space>/<session>` or `temp/<session>`. */
  readonly key: string;
  /** The session's folder relative to the tree; undefined for a temporary session. */
  readonly relative: string | undefined;
  /** The folder that must exist already: `shared/<space>`. */
  readonly space: string | undefined;
}

/** Throws EINVAL for a name that is none. */
export function placementOf(
  agent: string,
  owner: number,
  scope: Scope,
  session: string,
): Placement {
  objectName("agent", agent);
  sessionName(session);
  const named = { agent, session, scope };
  switch (scope.kind) {
    case "private": {
      const relative = `${agentHome(agent, owner)}/session/${session}`;
      return { ...named, key: `private/${session}`, relative, space: undefined };
    }
    case "shared": {
      objectName("shared space", scope.space);
      const space = `shared/${scope.space}`;
      const relative = `${space}/agent/${agent}/session/${session}`;
      return { ...named, key: `${space}/${session}`, relative, space };
    }
    case "temp":
      return { ...named, key: `temp/${session}`, relative: undefined, space: undefined };
  }
}

/** The session folder that a claim's key names; undefined for a temporary one, which is gone. */
export function relativeOfKey(agent: string, owner: number, key: string): string | undefined {
  const parts = key.split("/");
  const session = parts.at(-1) ?? "";
  if (parts[0] === "private") {
    return placementOf(agent, owner, { kind: "private" }, session).relative;
  }
  if (parts[0] === "shared") {
    return placementOf(agent, owner, { kind: "shared", space: parts[1] ?? "" }, session).relative;
  }
  if (parts[0] === "temp") return undefined;
  throw new CodedError("EIO", `claim key ${JSON.stringify(key)} names no session`);
}

/** An agent's home below the tree. */
export function agentHome(agent: string, owner: number): string {
  return `home/${owner}/agent/${agent}`;
}
