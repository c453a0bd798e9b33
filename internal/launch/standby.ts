// Sandboxes that stand behind their closed gates before a call or a step asks for one, each for the
// next one of its kind in one run after another: of the session, or of whichever session of the agent
// has the folder of the capability socket that it shows. It is taken only for a plan, made anew
// from the files as they are then, that is the same to the letter, and what stands is checked again.
// So a changed policy, mount, folder or `.git` is never missed: a sandbox of its own is simply built.

import { childDescriptors, type GatedSandbox } from "../bwrap/mod.ts";
import { bwrapArguments, commandPath } from "../sandbox/mod.ts";
import type { LaunchPlan } from "./plan.ts";
import type { Stand } from "./stand.ts";
import type { SessionOfAgent } from "./types.ts";

/** How long one may wait for its call. Past it it is ended; a slow model gets a fresh one. */
const standbyMsMax = 60_000;

/** Sandboxes that wait for their call at once. Past it a call builds its own, as under load. */
const standbysMax = 4;

/**
 * How long one must have rested before it makes room for another session's. Many busy sessions would
 * only end each other's otherwise.
 */
const restMsMin = 2000;

/** A sandbox that stands, and what is to be ended with it. */
export interface Standing {
  readonly sandbox: GatedSandbox;
  readonly stand: Stand;
}

/** For the next call of a built-in tool, or for the next step of the agent's own program. */
export type StandbyKind = "call" | "step";

/** At most one of each kind for a session. */
const kinds: readonly StandbyKind[] = ["call", "step"];

interface Standby {
  readonly key: string;
  readonly abort: AbortController;
  readonly standing: Promise<Standing | undefined>;
  /** When the last run that could use it ended; undefined while one goes on. */
  restingSince: number | undefined;
  /** It has rested before, so it was not built for the run that goes on. */
  rested: boolean;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/** Everything that makes two launches interchangeable before a program is chosen. */
function standbyKey(plan: LaunchPlan): string {
  const { identity, network, expected, mounts, spec } = plan;
  // The gate itself gives a command its PATH.
  const env = [...spec.env].filter(([name, value]) => name !== "PATH" || value !== commandPath);
  return JSON.stringify([
    bwrapArguments({ ...spec, env: new Map(env) }, childDescriptors),
    // The arguments name descriptors; what is in them counts.
    spec.programs,
    plan.spec.binds.map(({ noexec }) => noexec === true),
    [identity, network?.path],
    expected.map(({ view, dev, ino }) => [view, `${dev}:${ino}`]),
    // What is mounted on the host after the start shows in the sandbox, without bubblewrap's flags.
    mounts,
  ]);
}

export class Standbys {
  /** By session and kind, the one that was used last at the end. */
  readonly #byName = new Map<string, Standby>();
  readonly #ending = new Set<Promise<void>>();
  readonly #restMs: number;

  constructor(restMs = standbyMsMax) {
    this.#restMs = Math.min(restMs, standbyMsMax);
  }

  has(session: SessionOfAgent, kind: StandbyKind): boolean {
    return this.#byName.has(standbyName(session, kind));
  }

  /** Whether one more may be built with so many permits idle; ends a rested one to make room. */
  room(idlePermits: number): boolean {
    const { size } = this.#byName;
    if (size < Math.min(idlePermits, standbysMax)) return true;
    if (idlePermits === 0) return false;
    const until = performance.now() - restMsMin;
    for (const [name, { restingSince = Number.POSITIVE_INFINITY }] of this.#byName) {
      if (restingSince > until) continue;
      void this.#end(name);
      return size <= Math.min(idlePermits, standbysMax);
    }
    return false;
  }

  /** `stand` resolves undefined when it fails: the call will meet the reason itself. */
  add(
    session: SessionOfAgent,
    kind: StandbyKind,
    plan: LaunchPlan,
    stand: (signal: AbortSignal) => Promise<Standing | undefined>,
  ): void {
    const name = standbyName(session, kind);
    const abort = new AbortController();
    const standby: Standby = {
      key: standbyKey(plan),
      abort,
      standing: stand(abort.signal),
      restingSince: undefined,
      rested: false,
      timer: undefined,
    };
    this.#byName.set(name, standby);
    this.#limit(name, standby);
    abort.signal.addEventListener("abort", () => clearTimeout(standby.timer));
    void standby.standing.then((made) => {
      if (made === undefined && this.#byName.get(name) === standby) this.#byName.delete(name);
    });
  }

  /** Their time begins anew: they wait for the session's next run. Whether one is for a call. */
  rest(session: SessionOfAgent): boolean {
    return this.#touch(session, performance.now());
  }

  /** Their time begins anew: a run goes on that may use them, so they make room for no other. */
  wake(session: SessionOfAgent): boolean {
    return this.#touch(session, undefined);
  }

  #touch(session: SessionOfAgent, restingSince: number | undefined): boolean {
    for (const kind of kinds) {
      const name = standbyName(session, kind);
      const standby = this.#byName.get(name);
      if (standby === undefined) continue;
      standby.restingSince = restingSince;
      standby.rested ||= restingSince !== undefined;
      this.#byName.delete(name);
      this.#byName.set(name, standby);
      this.#limit(name, standby);
    }
    return this.has(session, "call");
  }

  /** The session's standby of this kind if it fits the plan and still stands; one that does not fit is ended. */
  async take(
    session: SessionOfAgent,
    kind: StandbyKind,
    plan: LaunchPlan,
  ): Promise<Standing | undefined> {
    const name = standbyName(session, kind);
    const standby = this.#byName.get(name);
    if (standby === undefined) return undefined;
    if (standby.key !== standbyKey(plan)) {
      void this.#end(name);
      return undefined;
    }
    this.#byName.delete(name);
    const standing = await standby.standing;
    standby.abort.abort();
    if (standing === undefined || standing.sandbox.alive) return standing;
    await ended(standing);
    return undefined;
  }

  /** What rested before rests on, the others are ended. */
  async leave(session: SessionOfAgent): Promise<void> {
    const made = kinds
      .map((kind) => standbyName(session, kind))
      .filter((name) => this.#byName.get(name)?.rested === false);
    this.rest(session);
    await Promise.all(made.map((name) => this.#end(name)));
  }

  async discard(session: SessionOfAgent): Promise<void> {
    await Promise.all(kinds.map((kind) => this.#end(standbyName(session, kind))));
  }

  /** Ends all of them and waits for those that are ending already. */
  async close(): Promise<void> {
    for (const name of [...this.#byName.keys()]) void this.#end(name);
    await Promise.all(this.#ending);
  }

  #limit(name: string, standby: Standby): void {
    clearTimeout(standby.timer);
    const waitMs = standby.restingSince === undefined ? standbyMsMax : this.#restMs;
    standby.timer = setTimeout(() => {
      if (this.#byName.get(name) === standby) void this.#end(name);
    }, waitMs);
  }

  #end(name: string): Promise<void> {
    const standby = this.#byName.get(name);
    if (standby === undefined) return Promise.resolve();
    this.#byName.delete(name);
    standby.abort.abort();
    const ending = standby.standing
      .then((standing) => standing && ended(standing))
      // Its gate is shut, so it ends by itself; nobody is left to be told.
      .catch(() => undefined);
    this.#ending.add(ending);
    return ending.finally(() => this.#ending.delete(ending));
  }
}

export function standbyName(of: SessionOfAgent, kind: StandbyKind): string {
  const { agent, session, scope, control } = of;
  const place = control === undefined ? { session } : { control };
  return JSON.stringify([agent, scope, place, kind]);
}

async function ended({ sandbox, stand }: Standing): Promise<void> {
  await sandbox.discard();
  await stand.end();
}
