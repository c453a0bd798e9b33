// Asks the person of a chat about one call. Only a line that was typed after the question counts;
// anything but a clear yes allows nothing.

import { approvalReasonBytesMax } from "../../internal/abi/mod.ts";
import { note, onInterrupt, printRaw } from "../../internal/cli/mod.ts";
import type { Decide, Decision } from "./approval-desk.ts";

/** What a chat offers to ask a person with. */
export interface Asker {
  /** The next line that is typed from now on; undefined at the end of input or when aborted. */
  ask(prompt: string, over: AbortSignal): Promise<string | undefined>;
}

const choices = "allow once? y, n, or r to deny with a reason: ";

/** `describe` is asked again before a yes counts: what was shown must still be so. */
export function askPerson(
  asker: Asker,
  describe: (frame: Parameters<Decide>[0]) => string,
): Decide {
  return async (frame, over) => {
    const stop = new AbortController();
    let interrupted = false;
    // Ctrl-C denies, and then does what it does to any run.
    const release = onInterrupt(() => {
      interrupted = true;
      stop.abort();
    });
    try {
      const decided = await converse(
        asker,
        () => describe(frame),
        AbortSignal.any([over, stop.signal]),
      );
      if (decided === undefined && over.aborted) {
        note(`\nno answer is needed any more: ${frame.name} was decided without it`);
        return undefined;
      }
      return decided ?? { decision: "deny" };
    } finally {
      release();
      // After the answer is on its way.
      if (interrupted) setTimeout(() => process.emit("SIGINT"), 0);
    }
  };
}

async function converse(
  asker: Asker,
  describe: () => string,
  over: AbortSignal,
): Promise<Decision | undefined> {
  let shown = describe();
  printRaw(shown);
  for (;;) {
    const word = (await asker.ask(choices, over))?.trim().toLowerCase();
    if (word === undefined) return undefined;
    if (word === "n" || word === "no") return { decision: "deny" };
    if (word === "r") {
      const reason = shortened((await asker.ask("reason: ", over))?.trim() ?? "");
      return reason === "" ? { decision: "deny" } : { decision: "deny", reason };
    }
    if (word !== "y" && word !== "yes") continue;
    const now = describe();
    if (now === shown) return { decision: "allow_once" };
    shown = now;
    printRaw(`the file was changed meanwhile:\n${shown}`);
  }
}

/** A reason of more bytes than an answer may carry loses its end: a character has at most four. */
function shortened(reason: string): string {
  const fits = Buffer.byteLength(reason) <= approvalReasonBytesMax;
  return fits ? reason : [...reason].slice(0, approvalReasonBytesMax / 4).join("");
}
