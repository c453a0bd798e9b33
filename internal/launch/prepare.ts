// How a sandbox is prepared for the next call or step of a session, and how a call or step takes it.

import {
  type LatePayload,
  type RunningSandbox,
  type StartOptions,
  standSandbox,
  warmInputBytesMax,
} from "../bwrap/mod.ts";
import type { GeneratedFolders } from "./generated.ts";
import type { Payload } from "./payload.ts";
import { type LaunchPlan, planLaunch, planStep } from "./plan.ts";
import type { Semaphore } from "./semaphore.ts";
import { checkStanding, Stand } from "./stand.ts";
import { type StandbyKind, type Standbys, standbyName } from "./standby.ts";
import type { StepRequest } from "./step-types.ts";
import type { LauncherOptions, LiveLaunch, SessionOfAgent, StandbyRequest } from "./types.ts";

/**
 * The runner, started before its call: it reads the tool's path and input, and does nothing before.
 * A shell command takes its place.
 */
const standbyProgram = ["/ctx/bin/ctx", "exec", "-"];

export interface AheadInput {
  readonly options: LauncherOptions;
  readonly folders: GeneratedFolders;
  readonly permits: Semaphore;
  readonly live: Set<LiveLaunch>;
  readonly standbys: Standbys;
  readonly closing: AbortSignal;
}

export type StepAhead = StandbyRequest & Pick<StepRequest, "program" | "window">;

/** Starts standbys in the background while nobody waits for a sandbox. */
export class Ahead {
  readonly #of: AheadInput;
  /** Steps that are over and whose next one is begun once what they came to is on its way. */
  readonly #soon = new Map<string, { readonly timer: NodeJS.Immediate; resting: boolean }>();

  constructor(of: AheadInput) {
    this.#of = of;
  }

  /** For a built-in tool, of which no other part of the plan depends on which one it is. */
  call(request: StandbyRequest): void {
    const tool = request.visible.find(({ builtin }) => builtin);
    if (tool === undefined || !this.#room(request, "call")) return;
    const { options, folders } = this.#of;
    const plan = planned(() =>
      planLaunch(options, folders, { ...request, tool, args: {}, timeoutMs: 0 }),
    );
    const start = { program: standbyProgram, combined: false, stdin: "later", warm: true } as const;
    if (plan !== undefined) this.#add(request, "call", plan, start);
  }

  /** For the agent's program; `plan` is that of a step before. It is taken for the very same alone. */
  step(request: StepAhead, plan?: LaunchPlan): void {
    if (!this.#room(request, "step")) return;
    const { options, folders } = this.#of;
    const made = plan ?? planned(() => planStep(options, folders, request));
    const start = { program: [request.program.viewPath], combined: false, stdin: "later" } as const;
    if (made !== undefined) this.#add(request, "step", made, start);
  }

  /** The same after what is to be done now, unless the session's are discarded until then. */
  stepSoon(request: StepAhead, plan: LaunchPlan): void {
    const name = standbyName(request, "step");
    clearImmediate(this.#soon.get(name)?.timer);
    const timer = setImmediate(() => {
      const { resting } = this.#soon.get(name) ?? { resting: false };
      this.#soon.delete(name);
      this.step(request, plan);
      if (resting) this.#of.standbys.rest(request);
    });
    this.#soon.set(name, { timer, resting: false });
  }

  /** As of the standbys, with those that are about to be begun. */
  rest(session: SessionOfAgent): boolean {
    const soon = this.#soon.get(standbyName(session, "step"));
    if (soon !== undefined) soon.resting = true;
    return this.#of.standbys.rest(session);
  }

  discard(session: SessionOfAgent): Promise<void> {
    const name = standbyName(session, "step");
    clearImmediate(this.#soon.get(name)?.timer);
    this.#soon.delete(name);
    return this.#of.standbys.discard(session);
  }

  /** A sandbox for nobody yet must not take the place of one that somebody waits for. */
  #room(request: StandbyRequest, kind: StandbyKind): boolean {
    const { closing, standbys, permits } = this.#of;
    if (closing.aborted || standbys.has(request, kind)) return false;
    return standbys.room(permits.idle);
  }

  #add(
    request: StandbyRequest,
    kind: StandbyKind,
    plan: LaunchPlan,
    start: Pick<StartOptions, "program" | "combined" | "stdin" | "warm">,
  ): void {
    this.#of.standbys.add(request, kind, plan, async (signal) => {
      const stand = new Stand(request, plan, this.#of.live);
      try {
        return { sandbox: await standSandbox({ ...stand.options(signal), ...start }), stand };
      } catch {
        await stand.end();
        return undefined;
      }
    });
  }
}

/** Undefined when it fails: the call or step itself will meet the reason and report it. */
function planned(plan: () => LaunchPlan): LaunchPlan | undefined {
  try {
    return plan();
  } catch {
    return undefined;
  }
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
  { run, session }: Pick<StandbyRequest, "run" | "session">,
): LatePayload | undefined {
  const [runner, word, last, more] = program;
  if (last === undefined || more !== undefined) return undefined;
  const news = { run, session };
  if (kind === "command") {
    if (runner !== "/bin/sh" || word !== "-c") return undefined;
    return { opening: { kind, combined }, news, stdin: new TextEncoder().encode(last) };
  }
  const [ctx, exec] = standbyProgram;
  if (runner !== ctx || word !== exec || stdin === undefined || combined) return undefined;
  const warm = Buffer.concat([Buffer.from(`${last} ${run} ${session}\n`), stdin]);
  const fits = warm.length <= warmInputBytesMax && !/[\s]/.test(last);
  return fits ? { opening: { kind: "program" }, news, warm } : undefined;
}
