// What one planned sandbox needs from its start to its end besides its program: the checks and
// adjustments while it stands, its network, and its place in the list of live launches.

import { lstatSync } from "node:fs";
import { fail } from "../abi/mod.ts";
import {
  type AttachedNetwork,
  attachNetwork,
  childDescriptors,
  forbidExecution,
  limitProcesses,
  type StandingSandbox,
  type StartOptions,
} from "../bwrap/mod.ts";
import { bwrapArguments, type FilterArchitecture, seccompProgram } from "../sandbox/mod.ts";
import { checkStartable } from "./agent-program.ts";
import type { LaunchPlan } from "./plan.ts";
import type { LaunchRequest, LiveLaunch } from "./types.ts";

export class Stand {
  readonly #request: Pick<LaunchRequest, "agent" | "session" | "run">;
  readonly #plan: LaunchPlan;
  readonly #live: Set<LiveLaunch>;
  #network: AttachedNetwork | undefined;
  #entry: LiveLaunch | undefined;
  #adopted: Stand | undefined;

  constructor(
    request: Pick<LaunchRequest, "agent" | "session" | "run">,
    plan: LaunchPlan,
    live: Set<LiveLaunch>,
  ) {
    this.#request = request;
    this.#plan = plan;
    this.#live = live;
  }

  /** All of a start but the program and its streams. */
  options(signal: AbortSignal): Omit<StartOptions, "program" | "combined" | "stdin"> {
    const plan = this.#plan;
    return {
      arguments: bwrapArguments(plan.spec, childDescriptors),
      seccomp: filterFor(plan.spec.network),
      programs: plan.spec.programs,
      identity: plan.identity.become,
      signal,
      register: (root) => this.#enter(root),
      prepare: async (standing) => {
        checkStanding(standing, plan);
        const noexec = plan.spec.binds.filter((bind) => bind.noexec).map((bind) => bind.view);
        await forbidExecution(standing.init, noexec, plan.identity.become);
        if (plan.identity.kernelRoot) await limitProcesses(standing.init);
        if (plan.network === undefined) return;
        this.#network = await attachNetwork(plan.network, standing.init, plan.identity.become);
      },
    };
  }

  /** Takes over what another one holds: it ends with this one, and belongs to this run. */
  adopt(other: Stand): void {
    this.#adopted = other;
    if (other.#entry === undefined) return;
    other.#leave();
    this.#enter(other.#entry.root);
  }

  #enter(root: LiveLaunch["root"]): void {
    // A standby that was taken over may turn out to be of no use, and another one is started.
    this.#leave();
    const { agent, session, run } = this.#request;
    this.#entry = { root, agent, session, run };
    this.#live.add(this.#entry);
  }

  #leave(): void {
    if (this.#entry !== undefined) this.#live.delete(this.#entry);
  }

  async end(): Promise<void> {
    this.#leave();
    await this.#network?.stop();
    await this.#adopted?.end();
  }
}

const filters = new Map<string, Uint8Array>();

function filterFor(network: "none" | "granted"): Uint8Array {
  const known = filters.get(network);
  if (known !== undefined) return known;
  const architecture = process.arch as FilterArchitecture;
  if (architecture !== "x64" && architecture !== "arm64") {
    fail("EHOSTDOWN", `there is no system call filter for ${process.arch}`);
  }
  const made = seccompProgram(architecture, { network: network === "granted" });
  filters.set(network, made);
  return made;
}

/** bubblewrap resolves paths itself, later than the plan did; what it found must be the same. */
export function checkStanding(standing: StandingSandbox, plan: LaunchPlan): void {
  const { init } = standing;
  if (plan.program !== undefined) checkStartable(standing, plan.program, plan.spec.env);
  for (const { view, dev, ino } of plan.expected) {
    const facts = lstatSync(`/proc/${init.pid}/root${view}`, { bigint: true });
    if (facts.dev === dev && facts.ino === ino) continue;
    fail("EACCES", `"${view}" is not the folder that was checked: it was replaced meanwhile`);
  }
}
