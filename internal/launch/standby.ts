// Sandboxes that stand behind their closed gates before a call asks for one, each for the next call of
// one session, whichever run makes it. A call takes it only when its own plan, made anew from the
// files as they are then, is the same to the letter, and what stands is checked again. So a changed
// policy, mount, folder or `.git` is never missed: the call simply builds a sandbox of its own.

import {
  childDescriptors,
  type GatedSandbox,
  type LatePayload,
  standSandbox,
  warmInputBytesMax,
} from "../bwrap/mod.ts";
import { bwrapArguments, commandPath } from "../sandbox/mod.ts";
import type { GeneratedFolders } from "./generated.ts";
import type { Payload } from "./payload.ts";
import { type LaunchPlan, planLaunch } from "./plan.ts";
import { Stand } from "./stand.ts";
import type { LauncherOptions, LiveLaunch, SessionOfAgent, StandbyRequest } from "./types.ts";

/** How long one may wait for its call. Past it it is ended; a slow model gets a fresh one. */
const standbyMsMax = 60_000;

/** Sandboxes that wait for their call at once. Past it a call builds its own, as under load. */
const standbysMax = 4;

/**
 * How long one must have rested before it makes room for another session's. Many busy sessions would
 * only end each other's otherwise.
 */
const restMsMin = 2000;

/**
 * The runner, started before its call: it reads the tool's path and input, and does nothing before.
 * A shell command takes its place.
 */
const standbyProgram = ["/ctx/bin/ctx", "exec", "-"];

/** A sandbox that stands, and what is to be ended with it. */
export interface Standing {
  readonly sandbox: GatedSandbox;
  readonly stand: Stand;
}

interface Standby {
  readonly key: string;
  readonly abort: AbortController;
  readonly standing: Promise<Standing | undefined>;
  /** When the last run that could use it ended; undefined while one goes on. */
  restingSince: number | undefined;
  timer: ReturnType<typeof setTimeout> | undefined;
}

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
  standbys.add(request, plan, async (signal) => {
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

/** Everything that makes two launches interchangeable before a program is chosen. */
function standbyKey(plan: LaunchPlan): string {
  const { identity, network, expected, mounts, spec } = plan;
  // The gate itself gives a command its PATH.
  const env = [...spec.env].filter(([name, value]) => name !== "PATH" || value !== commandPath);
  return JSON.stringify([
    bwrapArguments({ ...spec, env: new Map(env) }, childDescriptors),
    plan.spec.binds.map(({ noexec }) => noexec === true),
    [identity, network?.path],
    expected.map(({ view, dev, ino }) => [view, `${dev}:${ino}`]),
    // What is mounted on the host after the start shows in the sandbox, without bubblewrap's flags.
    mounts,
  ]);
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
    return { opening: { kind, combined }, run, stdin: new TextEncoder().encode(last) };
  }
  const [ctx, exec] = standbyProgram;
  if (runner !== ctx || word !== exec || stdin === undefined || combined) return undefined;
  const warm = Buffer.concat([Buffer.from(`${last} ${run}\n`), stdin]);
  const fits = warm.length <= warmInputBytesMax && !/[\s]/.test(last);
  return fits ? { opening: { kind: "program" }, run, warm } : undefined;
}

export class Standbys {
  /** By session, the one that was used last at the end. */
  readonly #bySession = new Map<string, Standby>();
  readonly #ending = new Set<Promise<void>>();
  readonly #restMs: number;

  constructor(restMs = standbyMsMax) {
    this.#restMs = Math.min(restMs, standbyMsMax);
  }

  has(session: SessionOfAgent): boolean {
    return this.#bySession.has(nameOf(session));
  }

  /** Whether one more may be built with so many permits idle; ends a rested one to make room. */
  room(idlePermits: number): boolean {
    const { size } = this.#bySession;
    if (size < Math.min(idlePermits, standbysMax)) return true;
    if (idlePermits === 0) return false;
    const until = performance.now() - restMsMin;
    for (const [name, { restingSince = Number.POSITIVE_INFINITY }] of this.#bySession) {
      if (restingSince > until) continue;
      void this.#end(name);
      return size <= Math.min(idlePermits, standbysMax);
    }
    return false;
  }

  /** `stand` resolves undefined when it fails: the call will meet the reason itself. */
  add(
    session: SessionOfAgent,
    plan: LaunchPlan,
    stand: (signal: AbortSignal) => Promise<Standing | undefined>,
  ): void {
    const name = nameOf(session);
    const abort = new AbortController();
    const standby: Standby = {
      key: standbyKey(plan),
      abort,
      standing: stand(abort.signal),
      restingSince: undefined,
      timer: undefined,
    };
    this.#bySession.set(name, standby);
    this.#limit(name, standby);
    abort.signal.addEventListener("abort", () => clearTimeout(standby.timer));
    void standby.standing.then((made) => {
      if (made === undefined && this.#bySession.get(name) === standby) this.#bySession.delete(name);
    });
  }

  /** Its time begins anew: it waits for the session's next run. */
  rest(session: SessionOfAgent): boolean {
    return this.#touch(session, performance.now());
  }

  /** Its time begins anew: a run goes on that may use it, so it makes room for no other. */
  wake(session: SessionOfAgent): boolean {
    return this.#touch(session, undefined);
  }

  #touch(session: SessionOfAgent, restingSince: number | undefined): boolean {
    const name = nameOf(session);
    const standby = this.#bySession.get(name);
    if (standby === undefined) return false;
    standby.restingSince = restingSince;
    this.#bySession.delete(name);
    this.#bySession.set(name, standby);
    this.#limit(name, standby);
    return true;
  }

  /** The session's standby if it fits the plan and still stands; one that does not fit is ended. */
  async take(session: SessionOfAgent, plan: LaunchPlan): Promise<Standing | undefined> {
    const name = nameOf(session);
    const standby = this.#bySession.get(name);
    if (standby === undefined) return undefined;
    if (standby.key !== standbyKey(plan)) {
      void this.#end(name);
      return undefined;
    }
    this.#bySession.delete(name);
    const standing = await standby.standing;
    standby.abort.abort();
    if (standing === undefined || standing.sandbox.alive) return standing;
    await ended(standing);
    return undefined;
  }

  discard(session: SessionOfAgent): Promise<void> {
    return this.#end(nameOf(session));
  }

  /** Ends all of them and waits for those that are ending already. */
  async close(): Promise<void> {
    for (const name of [...this.#bySession.keys()]) void this.#end(name);
    await Promise.all(this.#ending);
  }

  #limit(name: string, standby: Standby): void {
    clearTimeout(standby.timer);
    const waitMs = standby.restingSince === undefined ? standbyMsMax : this.#restMs;
    standby.timer = setTimeout(() => {
      if (this.#bySession.get(name) === standby) void this.#end(name);
    }, waitMs);
  }

  #end(name: string): Promise<void> {
    const standby = this.#bySession.get(name);
    if (standby === undefined) return Promise.resolve();
    this.#bySession.delete(name);
    standby.abort.abort();
    const ending = standby.standing
      .then((standing) => standing && ended(standing))
      // Its gate is shut, so it ends by itself; nobody is left to be told.
      .catch(() => undefined);
    this.#ending.add(ending);
    return ending.finally(() => this.#ending.delete(ending));
  }
}

function nameOf({ agent, session, scope }: SessionOfAgent): string {
  return JSON.stringify([agent, scope, session]);
}

async function ended({ sandbox, stand }: Standing): Promise<void> {
  await sandbox.discard();
  await stand.end();
}
