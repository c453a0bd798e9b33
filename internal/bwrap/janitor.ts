// One small process a server that outlives it for a moment. bubblewrap ties its life to ours one step
// before it wakes its child; killed in that step, as happened in 1 of 60 kills on a busy machine, it
// leaves a child that waits for ever. Nothing of an agent has run in it, but it must not stay. Only
// somebody else can end it once this server is gone.

import { closeSync, writeSync } from "node:fs";
import { pipe } from "../os/mod.ts";
import { gateMark } from "../sandbox/mod.ts";

/**
 * Waits for a line (nothing to do) or end-of-file (the server is gone). Then looks a few times, for
 * what the kernel has yet to end: a bubblewrap of ours, first of its pid namespace, whose parent is
 * not a bubblewrap. Only built-ins touch /proc until a candidate is found.
 */
const script = `
trap '' HUP INT TERM
read -r line && exit 0
for pause in 0.1 0.2 0.3 0.5 0.9; do
  sleep $pause
  for folder in /proc/[0-9]*; do
    read -r pid name state parent rest < $folder/stat || continue
    [ "$name" = "(bwrap)" ] || continue
    read -r _ above _ < /proc/$parent/stat || continue
    [ "$above" = "(bwrap)" ] && continue
    grep -qz '${gateMark}' $folder/cmdline || continue
    grep -q '^NSpid:.*[^0-9]1$' $folder/status || continue
    kill -9 $pid
  done
done 2>/dev/null
`;

let lifeline: number | undefined;

/** Starts the janitor of this process; later calls do nothing. */
export function startJanitor(): void {
  if (lifeline !== undefined) return;
  const [far, near] = pipe();
  try {
    const child = Bun.spawn(["/bin/sh", "-c", script, "ctxd-janitor"], {
      env: { PATH: "/usr/bin:/bin" },
      cwd: "/",
      detached: true,
      stdio: [far, "ignore", "ignore"],
    });
    child.unref();
    lifeline = near;
  } catch (error) {
    closeSync(near);
    throw error;
  } finally {
    closeSync(far);
  }
}

/** Dismisses the janitor, once nothing of this process is running. The next launch starts another. */
export function stopJanitor(): void {
  if (lifeline === undefined) return;
  try {
    writeSync(lifeline, "done\n");
  } catch {
    // It is gone already, which is as good.
  }
  closeSync(lifeline);
  lifeline = undefined;
}
