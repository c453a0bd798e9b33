// How a sandbox is prepared for the next call or step of a session, and how a call or step takes it.

import {
  type LatePayload,
  type RunningSandbox,
  standSandbox,
  warmInputBytesMax,
} from "../bwrap/mod.ts";
import type { GeneratedFolders } from "./generated.ts";
import type { Payload } from "./payload.ts";
import { type LaunchPlan, planLaunch } from "./plan.ts";
import { checkStanding, Stand } from "./stand.ts";
import type { StandbyKind, Standbys } from "./standby.ts";
import type { StepRequest } from "./step-types.ts";
import type { LauncherOptions, LiveLaunch, StandbyRequest } from "./types.ts";

/**
 * The runner, started before its call: it reads the tool's path and input, and does nothing before.
 * A shell command takes its place.
 */
const standbyProgram = ["/ctx/bin/ctx", "exec", "-"];

/** The plan of a call of which only the tool is missing; undefined when no tool could use it. */
export function planStandby(
  options: LauncherOptions,
  folders: GeneratedFolders,
  request: StandbyRequest,
): LaunchPlan | undefined {
  const tool = request.visible.find(({ builtin }) => builtin);
  if (tool === undefined) return undefined;
  try {
    return planLaunch(options, folders, { ...request, tool, args: {}, timeoutMs: 0 });
  } catch {
    // The call itself will meet the reason and report it.
    return undefined;
  }
}

/** Starts the session's standby in the background. */
export function prepareStandby(
  standbys: Standbys,
  request: StandbyRequest,
  plan: LaunchPlan | undefined,
  live: Set<LiveLaunch>,
): void {
  if (plan === undefined) return;
  standbys.add(request, "call", plan, async (signal) => {
    const stand = new Stand(request, plan, live);
    try {
      const sandbox = await standSandbox({
        ...stand.options(signal),
        program: standbyProgram,
        combined: false,
        stdin: "later",
        warm: true,
      });
      return { sandbox, stand };
    } catch {
      await stand.end();
      return undefined;
    }
  });
}

/**
 * Starts a standby for the session's next step in the background, with the plan of this one: it is
 * taken only when that one's is the same.
 */
export function prepareStep(
  standbys: Standbys,
  request: StepRequest,
  plan: LaunchPlan,
  live: Set<LiveLaunch>,
): void {
  const { viewPath } = request.program;
  standbys.add(request, "step", plan, async (signal) => {
    const stand = new Stand(request, plan, live);
    try {
      const start = { program: [viewPath], combined: false, stdin: "later" } as const;
      return { sandbox: await standSandbox({ ...stand.options(signal), ...start }), stand };
    } catch {
      await stand.end();
      return undefined;
    }
  });
}

/** The session's standby with its gate open, if there is one for this plan; `stand` takes it over. */
export async function releasedStandby(
  standbys: Standbys,
  kind: StandbyKind,
  { request, plan, stand }: { request: StandbyRequest; plan: LaunchPlan; stand: Stand },
  late: LatePayload,
): Promise<RunningSandbox | undefined> {
  const taken = await standbys.take(request, kind, plan);
  if (taken === undefined) return undefined;
  stand.adopt(taken.stand);
  try {
    checkStanding(taken.sandbox, plan);
  } catch {
    await taken.sandbox.discard();
    return undefined;
  }
  return taken.sandbox.release(late);
}

/** What opens the gate of a standby to this payload; undefined when only a launch of its own can. */
export function latePayload(
  { kind, program, stdin, combined }: Payload,
  run: string,
): LatePayload | undefined {
  const [runner, word, last, more] = program;
  if (last === undefined || more !== undefined) return undefined;
  if (kind === "command") {
    if (runner !== "/bin/sh" || word !== "-c") return undefined;
    return { opening: { kind, combined }, news: { run }, stdin: new TextEncoder().encode(last) };
  }
  const [ctx, exec] = standbyProgram;
  if (runner !== ctx || word !== exec || stdin === undefined || combined) return undefined;
  const warm = Buffer.concat([Buffer.from(`${last} ${run}\n`), stdin]);
  const fits = warm.length <= warmInputBytesMax && !/[\s]/.test(last);
  return fits ? { opening: { kind: "program" }, news: { run }, warm } : undefined;
}
