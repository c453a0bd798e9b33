// A terminal's plan on its way from the server that makes it to the process that carries it out: one
// JSON value. Both are of one version, which whoever sends it has made sure of.

import type { TerminalLaunch, TerminalPlan } from "./terminal-types.ts";

/** Both sides say it; a launch of another version is refused before it is given a plan. */
export const terminalPlanVersion = 1;

export function encodeTerminalPlan(plan: TerminalPlan): unknown {
  const { spec, identity, network, expected } = plan.launch;
  return {
    ...plan,
    launch: {
      spec: { ...spec, env: [...spec.env] },
      // Whoever carries it out has become that user already.
      identity: { ...identity, become: undefined },
      network,
      expected: expected.map(({ view, dev, ino }) => [view, `${dev}`, `${ino}`]),
    },
  };
}

interface Sent extends Omit<TerminalPlan, "launch"> {
  readonly launch: Omit<TerminalLaunch, "spec" | "expected"> & {
    readonly spec: Omit<TerminalLaunch["spec"], "env"> & {
      readonly env: readonly (readonly [string, string])[];
    };
    readonly expected: readonly (readonly [string, string, string])[];
  };
}

/** What `encodeTerminalPlan` made, after JSON; it comes from the server alone. */
export function decodeTerminalPlan(value: unknown): TerminalPlan {
  const { launch, ...rest } = value as Sent;
  const { spec, identity, network, expected } = launch;
  return {
    ...rest,
    workspace: rest.workspace,
    launch: {
      spec: { ...spec, env: new Map(spec.env) },
      identity: { ...identity, become: undefined },
      network,
      expected: expected.map(([view, dev, ino]) => ({ view, dev: BigInt(dev), ino: BigInt(ino) })),
    },
  };
}
