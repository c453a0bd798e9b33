// Puts a terminal's modes back for a process that is killed outright: a shell in a session of its own
// that waits for that process to be gone.

import { closeSync, writeSync } from "node:fs";
import { streamPair } from "../os/mod.ts";

/** Reports what it read as the modes, waits, and puts them back unless a word came before the end. */
const guardScript = `exec 3>&1
modes=$(stty -g <&3 2>/dev/null) || exit
echo ready >&2
read -r word && exit
printf %s "$1"
stty "$modes" <&3`;

export interface TerminalGuard {
  /** Resolves when it has read the modes, or cannot. */
  readonly ready: Promise<unknown>;
  /** Lets it go with nothing done. */
  dismiss(): void;
}

/**
 * Keeps the modes that `terminal` has now; `leaving` is written before they are put back. Undefined
 * where there is no shell: then the terminal is not guarded.
 */
export function startGuard(terminal: number, leaving: string): TerminalGuard | undefined {
  const [ours, theirs] = streamPair();
  try {
    const guard = Bun.spawn(["/bin/sh", "-c", guardScript, "sh", leaving], {
      // A session of its own: no key and no hang-up of the terminal ends it.
      detached: true,
      stdin: theirs,
      stdout: terminal,
      stderr: "pipe",
      env: { PATH: "/usr/bin:/bin" },
      cwd: "/",
    });
    guard.unref();
    return { ready: guard.stderr.getReader().read(), dismiss: () => dismiss(ours) };
  } catch {
    closeSync(ours);
    return undefined;
  } finally {
    closeSync(theirs);
  }
}

function dismiss(guard: number): void {
  try {
    writeSync(guard, "left\n");
    closeSync(guard);
  } catch {
    // It is gone, or was dismissed before.
  }
}
