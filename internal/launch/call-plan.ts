// A call that is run in a sandbox that stands already, the session's terminal: planned, examined and
// refused as one with a sandbox of its own would be, so that nothing gets further by being run there.

import { terminalEnvironment } from "./environment.ts";
import type { GeneratedFolders } from "./generated.ts";
import { gitEntries } from "./git.ts";
import { type Payload, payloadOf } from "./payload.ts";
import { planLaunch } from "./plan.ts";
import { preparedCall, refuseChanged } from "./prepared.ts";
import type { LauncherOptions, LaunchRequest } from "./types.ts";

export interface CallPlan {
  readonly payload: Payload;
  /** The working folder, in the view. */
  readonly cwd: string;
  /** What the call's environment has beside or instead of the terminal's. */
  readonly env: Readonly<Record<string, string>>;
  /** What `.git` is now in the folders that the call can write: view path to identity. */
  gitEntries(): ReadonlyMap<string, string>;
}

/** Plans calls for a terminal with the same folders as launches. */
export interface CallPlanner {
  planCall(request: LaunchRequest): CallPlan;
}

/** Throws what would keep a launch from being started, also that it is not what was approved. */
export function planCall(
  options: LauncherOptions,
  folders: GeneratedFolders,
  request: LaunchRequest,
): CallPlan {
  const payload = payloadOf(request);
  const plan = planLaunch(options, folders, request);
  if (request.approved) refuseChanged(request, preparedCall(options, request, plan));
  const standing = terminalEnvironment(request);
  const differing = [...plan.spec.env].filter(([name, value]) => standing.get(name) !== value);
  return {
    payload,
    cwd: plan.spec.cwd,
    env: {
      ...Object.fromEntries(differing),
      // As the gate of a sandbox of its own adds them.
      ...{ CTX_RUN_ID: request.run, CTX_SESSION: request.session },
    },
    gitEntries: () => gitEntries(plan.watched),
  };
}
