// Puts a terminal's modes back for a process that is killed outright: a shell in a session of its own
// that waits for that process to be gone.

import { closeSync, writeSync } from "node:fs";
import { streamPair } from "../os/mod.ts";

/**
 * Reports that it has read the modes, waits, and puts them back unless "left" came before the end. Any
 * other word has more written before that.
 */
const guardScript = `exec 3>&1
modes=$(stty -g <&3 2>/dev/null) || exit
echo ready >&2
more=
while read -r word; do
  [ "$word" = left ] && exit
  more=$2
done
printf %s%s "$1" "$more"
stty "$modes" <&3`;

export interface TerminalGuard {
  /** Resolves when it has read the modes, or cannot. */
  readonly ready: Promise<unknown>;
  /** From here on `more` is written behind `leaving`. */
  writeMore(): void;
  /** Lets it go with nothing done. */
  dismiss(): void;
}

/**
 * Keeps the modes that `terminal` has now; `leaving` is written before they are put back,
 * and behind it `more` once that was asked for. Undefined where there is no shell: then the terminal
 * is not guarded.
 */
export function startGuard(
  terminal: number,
  leaving: string,
  more = "",
): TerminalGuard | undefined {
  const [ours, theirs] = streamPair();
  try {
    const guard = Bun.spawn(["/bin/sh", "-c", guardScript, "sh", leaving, more], {
      // A session of its own: no key and no hang-up of the terminal ends it.
      detached: true,
      stdin: theirs,
      stdout: terminal,
      stderr: "pipe",
      env: { PATH: "/usr/bin:/bin" },
      cwd: "/",
    });
    guard.unref();
    let isThere = true;
    return {
      ready: guard.stderr.getReader().read(),
      writeMore() {
        if (isThere) tell(ours, "more");
      },
      dismiss() {
        if (!isThere) return;
        isThere = false;
        tell(ours, "left");
        closeSync(ours);
      },
    };
  } catch {
    closeSync(ours);
    return undefined;
  } finally {
    closeSync(theirs);
  }
}

function tell(guard: number, word: string): void {
  try {
    writeSync(guard, `${word}\n`);
  } catch {
    // It is gone.
  }
}
