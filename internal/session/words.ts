// Words for the agent's tool shell, as a session sees them: a run of one call that no model asked for.
// It takes its turn in the session's queue like any input, and is no part of the conversation.

import type { RunRequest } from "../interaction/mod.ts";

/** The object of its acceptance, where an input's names a model. */
export const tshObject = "tool/tsh";

/** The folders that a request names; words name none. */
export function placesOf(request: RunRequest): {
  readonly cwd: string | undefined;
  readonly workspace: string | undefined;
} {
  if (request.op === "tsh") return { cwd: undefined, workspace: undefined };
  const { cwd, workspace } = request;
  return { cwd, workspace };
}
