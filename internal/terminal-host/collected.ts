// What a call in a terminal prints, kept within the bounds of any call, and the outcome that it comes to
// by its end: the same as with a sandbox of its own.

import { bytesOfBase64, type TerminalOutput } from "../capability/mod.ts";
import {
  answerOf,
  type CallPlan,
  type LaunchIo,
  type LaunchOutcome,
  newGitEntries,
  newGitNote,
  OutputWindow,
} from "../launch/mod.ts";
import type { Ending } from "./machine.ts";

/** What a shell says of a program that cannot be run. */
const notRunStatus = 127;

export class Collected {
  readonly #plan: CallPlan;
  readonly #io: LaunchIo;
  readonly #windows = { stdout: new OutputWindow(), stderr: new OutputWindow() };
  readonly #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };

  constructor(plan: CallPlan, io: LaunchIo) {
    this.#plan = plan;
    this.#io = io;
  }

  take({ stream, data, dropped = 0 }: TerminalOutput): void {
    const name = this.#plan.payload.combined ? "stdout" : stream;
    const bytes = bytesOfBase64(data) ?? new Uint8Array();
    this.#windows[name].skip(dropped);
    this.#windows[name].push(bytes);
    if (this.#plan.payload.kind !== "command") return;
    const text = this.#decoders[name].decode(bytes, { stream: true });
    if (text !== "") this.#io.onOutput(text);
  }

  /** Undefined for a call that nobody was told of. */
  outcome(ending: Ending, gitBefore: ReadonlyMap<string, string>): LaunchOutcome | undefined {
    const answer = this.#answer(ending);
    if (answer === undefined) return undefined;
    const newGit = newGitEntries(gitBefore, this.#plan.gitEntries());
    return { ...answer, newGit, output: answer.output + newGitNote(newGit) };
  }

  #answer(ending: Ending): Omit<LaunchOutcome, "newGit"> | undefined {
    const { payload } = this.#plan;
    switch (ending.kind) {
      case "exit":
        return answerOf(payload, this.#windows, ending.status, undefined);
      case "unstarted": {
        const name = payload.combined ? "stdout" : "stderr";
        this.#windows[name].push(new TextEncoder().encode(`${ending.message}\n`));
        return answerOf(payload, this.#windows, notRunStatus, undefined);
      }
      case "stopped":
        return answerOf(payload, this.#windows, 0, this.#stopped(ending));
      case "lost": {
        const because = ending.began
          ? "lost: the terminal went away under it; what it has started may run on"
          : "lost: the terminal went away before it had begun";
        const stopped = { code: "ECANCELED", because } as const;
        return { ...answerOf(payload, this.#windows, 0, stopped), code: "EHOSTDOWN" };
      }
      case "busy":
        return failed("busy", "too many calls wait for the terminal");
      case "absent":
        return undefined;
    }
  }

  #stopped({ by, began }: Extract<Ending, { kind: "stopped" }>) {
    const { timeoutMs } = this.#plan.payload;
    switch (by) {
      case "run":
        return { code: "ECANCELED", because: "stopped: cancelled" } as const;
      case "person":
        return { code: "ECANCELED", because: "stopped: cancelled at the terminal" } as const;
      case "clock": {
        const because = began
          ? `stopped: it ran longer than ${timeoutMs} ms`
          : `stopped: a program in the foreground of the terminal kept it waiting for ${timeoutMs} ms`;
        return { code: "ETIMEDOUT", because } as const;
      }
    }
  }
}

/** An outcome of which nothing was run. */
export function failed(code: NonNullable<LaunchOutcome["code"]>, output: string): LaunchOutcome {
  return { status: "error", code, output, dropped: 0, exit: undefined, newGit: [] };
}
