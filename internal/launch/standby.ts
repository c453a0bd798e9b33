// Sandboxes that stand behind their closed gates before a call asks for one. While a model thinks, the
// sandbox of the run's next call is built; a call takes it only when its own plan, made anew from the
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
import type { LauncherOptions, LiveLaunch, StandbyRequest } from "./types.ts";

/** How long one may wait for its call. Past it it is ended; a slow model gets a fresh one. */
const standbyMsMax = 60_000;

/** Sandboxes that wait for their call at once. Past it a call builds its own, as under load. */
export const standbysMax = 4;

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

/** Starts the run's standby in the background. */
export function prepareStandby(
  standbys: Standbys,
  request: StandbyRequest,
  plan: LaunchPlan | undefined,
  live: Set<LiveLaunch>,
): void {
  if (plan === undefined) return;
  standbys.add(request.run, plan, async (signal) => {
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
  const { identity, network, expected, spec } = plan;
  // The gate itself gives a command its PATH.
  const env = [...spec.env].filter(([name, value]) => name !== "PATH" || value !== commandPath);
  return JSON.stringify([
    bwrapArguments({ ...spec, env: new Map(env) }, childDescriptors),
    plan.spec.binds.map(({ noexec }) => noexec === true),
    [identity, network?.path],
    expected.map(({ view, dev, ino }) => [view, `${dev}:${ino}`]),
  ]);
}

/** What opens the gate of a standby to this payload; undefined when only a launch of its own can. */
export function latePayload({ kind, program, stdin, combined }: Payload): LatePayload | undefined {
  const [runner, word, last, more] = program;
  if (last === undefined || more !== undefined) return undefined;
  if (kind === "command") {
    if (runner !== "/bin/sh" || word !== "-c") return undefined;
    return { opening: { kind, combined }, stdin: new TextEncoder().encode(last) };
  }
  const [ctx, exec] = standbyProgram;
  if (runner !== ctx || word !== exec || stdin === undefined || combined) return undefined;
  const warm = Buffer.concat([Buffer.from(`${last}\n`), stdin]);
  const fits = warm.length <= warmInputBytesMax && !last.includes("\n");
  return fits ? { opening: { kind: "program" }, warm } : undefined;
}

export class Standbys {
  readonly #byRun = new Map<string, Standby>();
  readonly #ending = new Set<Promise<void>>();

  has(run: string): boolean {
    return this.#byRun.has(run);
  }

  get size(): number {
    return this.#byRun.size;
  }

  /** `stand` resolves undefined when it fails: the call will meet the reason itself. */
  add(
    run: string,
    plan: LaunchPlan,
    stand: (signal: AbortSignal) => Promise<Standing | undefined>,
  ): void {
    const abort = new AbortController();
    const standby: Standby = { key: standbyKey(plan), abort, standing: stand(abort.signal) };
    this.#byRun.set(run, standby);
    const timer = setTimeout(() => {
      if (this.#byRun.get(run) === standby) void this.discard(run);
    }, standbyMsMax);
    abort.signal.addEventListener("abort", () => clearTimeout(timer));
    void standby.standing.then((made) => {
      if (made === undefined && this.#byRun.get(run) === standby) this.#byRun.delete(run);
    });
  }

  /** The run's standby if it fits the plan and still stands; one that does not fit is ended. */
  async take(run: string, plan: LaunchPlan): Promise<Standing | undefined> {
    const standby = this.#byRun.get(run);
    if (standby === undefined) return undefined;
    if (standby.key !== standbyKey(plan)) {
      void this.discard(run);
      return undefined;
    }
    this.#byRun.delete(run);
    const standing = await standby.standing;
    standby.abort.abort();
    if (standing === undefined || standing.sandbox.alive) return standing;
    await ended(standing);
    return undefined;
  }

  discard(run: string): Promise<void> {
    const standby = this.#byRun.get(run);
    if (standby === undefined) return Promise.resolve();
    this.#byRun.delete(run);
    standby.abort.abort();
    const ending = standby.standing
      .then((standing) => standing && ended(standing))
      // Its gate is shut, so it ends by itself; nobody is left to be told.
      .catch(() => undefined);
    this.#ending.add(ending);
    return ending.finally(() => this.#ending.delete(ending));
  }

  /** Ends all of them and waits for those that are ending already. */
  async close(): Promise<void> {
    for (const run of [...this.#byRun.keys()]) void this.discard(run);
    await Promise.all(this.#ending);
  }
}

async function ended({ sandbox, stand }: Standing): Promise<void> {
  await sandbox.discard();
  await stand.end();
}
