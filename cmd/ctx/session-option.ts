// The options that name a session, and their defaults: with no `--session` a client uses the
// session index's `current`, each scope having an index of its own, then `default`.

import { closeSync } from "node:fs";
import { fail, objectName, sessionName } from "../../internal/abi/mod.ts";
import type { Scope } from "../../internal/interaction/mod.ts";
import { openPath, readBeneath } from "../../internal/os/mod.ts";
import type { Arguments } from "./command.ts";
import type { AgentContext } from "./context.ts";

export const sessionOptions = {
  session: { type: "string", describe: "Session (default: the current one, else default)" },
  scope: { type: "string", describe: "private (default), temp or shared:SPACE" },
} as const;

/** The scopes that leave something behind. */
export const keptScope = { type: "string", describe: "private (default) or shared:SPACE" } as const;

/** Bytes of `index/current`, which holds one session name. */
const currentBytesMax = 256;

export function scopeOf(args: Arguments): Scope {
  const text = args.text("scope") ?? "private";
  if (text === "private" || text === "temp") return { kind: text };
  if (text.startsWith("shared:")) {
    return { kind: "shared", space: objectName("space", text.slice("shared:".length)) };
  }
  return fail("EINVAL", `scope ${JSON.stringify(text)} is not valid`, {
    hint: "it is private, temp or shared:SPACE",
  });
}

export function sessionOf(args: Arguments, context: AgentContext): string {
  const named = args.text("session");
  if (named !== undefined) return sessionName(named);
  return currentSession(sessionHome(context, scopeOf(args))) ?? "default";
}

/** Host path of the folder that holds the scope's `session/`. A temp session has none, and nothing in it. */
export function sessionHome({ tree, agent, home }: AgentContext, scope: Scope): string {
  return scope.kind === "shared" ? `${tree.source}/shared/${scope.space}/agent/${agent}` : home;
}

/** The same for a command that reads what a session left. EINVAL for a temp one, which leaves nothing. */
export function keptSessionHome(args: Arguments, context: AgentContext): string {
  const scope = scopeOf(args);
  if (scope.kind !== "temp") return sessionHome(context, scope);
  return fail("EINVAL", "a temp session leaves nothing to read", {
    hint: "the scope is private or shared:SPACE",
  });
}

function currentSession(home: string): string | undefined {
  try {
    const folder = openPath(home, "folder");
    try {
      const bytes = readBeneath(folder, "session/index/current", currentBytesMax);
      return sessionName(new TextDecoder().decode(bytes).trim());
    } finally {
      closeSync(folder);
    }
  } catch {
    // Rebuildable and optional: without it there is simply no current session.
    return undefined;
  }
}
