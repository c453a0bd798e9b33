// Asks the person of a chat about one call. Only a line that was typed after the question counts;
// anything but a clear yes allows nothing.

import { approvalReasonBytesMax } from "../../internal/abi/mod.ts";
import { note, onInterrupt, printRaw } from "../../internal/cli/mod.ts";
import type { Decide, Decision } from "./approval-desk.ts";
import { fitted, type Window } from "./approval-window.ts";

/** What a chat offers to ask a person with. */
export interface Asker {
  /** The next line that is typed from now on; undefined at the end of input or when aborted. */
  ask(prompt: string, over: AbortSignal): Promise<string | undefined>;
  /** What the question is read in, as it is now. */
  window(): Window;
}

const choices = "allow once? y, n, or n and why: ";

/** `describe` is asked again before a yes counts: what was shown must still be so. */
export function askPerson(
  asker: Asker,
  describe: (frame: Parameters<Decide>[0]) => string,
): Decide {
  return async (frame, over) => {
    const stop = new AbortController();
    const release = onInterrupt(() => stop.abort());
    try {
      const either = AbortSignal.any([over, stop.signal]);
      const decided = await converse(asker, () => describe(frame), either);
      if (decided !== undefined) return decided;
      if (over.aborted) note(`\n${frame.name} waits for no answer any more`);
      // At the end of input nobody answers. On Ctrl-C nobody does either: the run is cancelled with
      // the call, where a deny before that would let it go on.
      return over.aborted || stop.signal.aborted ? undefined : { decision: "deny" };
    } finally {
      release();
      if (stop.signal.aborted) process.emit("SIGINT");
    }
  };
}

async function converse(
  asker: Asker,
  describe: () => string,
  over: AbortSignal,
): Promise<Decision | undefined> {
  let text = describe();
  let { columns } = show(asker, text);
  for (;;) {
    const line = await asker.ask(choices, over);
    if (line === undefined) return undefined;
    const [, word = "", rest = ""] = /^\s*(\S*)\s*(.*?)\s*$/s.exec(line) ?? [];
    if (/^no?$/i.test(word)) {
      return rest === "" ? { decision: "deny" } : { decision: "deny", reason: shortened(rest) };
    }
    if (!/^y(es)?$/i.test(word) || rest !== "") continue;
    const now = describe();
    const isNarrower = asker.window().columns < columns;
    if (now === text && !isNarrower) return { decision: "allow_once" };
    printRaw(now === text ? "the window is narrower now:\n" : "the file was changed meanwhile:\n");
    text = now;
    ({ columns } = show(asker, text));
  }
}

function show(asker: Asker, text: string): Window {
  const window = asker.window();
  printRaw(fitted(text, window));
  return window;
}

/** A reason of more bytes than an answer may carry loses its end: a character has at most four. */
function shortened(reason: string): string {
  const fits = Buffer.byteLength(reason) <= approvalReasonBytesMax;
  return fits ? reason : [...reason].slice(0, approvalReasonBytesMax / 4).join("");
}
