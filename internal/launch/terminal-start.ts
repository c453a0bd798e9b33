// Carries a terminal's plan out, in a process that is nothing else: bubblewrap becomes its child and
// dies with it. The same gates, checks and adjustments as for any other launch.

import { startSandbox } from "../bwrap/mod.ts";
import type { LaunchPlan } from "./plan.ts";
import { explained } from "./refusal.ts";
import { Stand } from "./stand.ts";
import type { RunningTerminal, TerminalIo, TerminalPlan } from "./terminal-types.ts";

/** Throws in the words of the request what kept it from standing; nothing of it is left then. */
export async function startTerminal(
  { agent, session, launch, program }: TerminalPlan,
  io: TerminalIo,
): Promise<RunningTerminal> {
  const plan: LaunchPlan = { ...launch, watched: [], mounts: [] };
  const stand = new Stand({ agent, session, run: session }, plan, new Set());
  try {
    const { prepare, ...options } = stand.options(io.signal);
    const sandbox = await startSandbox({
      ...options,
      async prepare(standing) {
        await prepare?.(standing);
        await io.standing(standing);
      },
      program,
      combined: false,
      stdin: io.listening,
    });
    return { ...sandbox, end: () => stand.end() };
  } catch (error) {
    await stand.end();
    throw explained(error, agent, plan);
  }
}
