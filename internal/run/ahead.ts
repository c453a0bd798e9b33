// The sandbox of the next call, built before there is a call: at the beginning of a run that is likely
// to make one, while its model thinks, and after its end for the session's next run. It changes no
// outcome, so whatever hinders it is silent here; the call meets the reason and reports it.

import type { RunContext } from "../session/mod.ts";
import { loadAgent } from "../tree/mod.ts";
import { standbyRequest } from "./call.ts";
import type { ExecutorOptions } from "./environment.ts";
import type { Offer } from "./offer.ts";

/**
 * How long a model thinks after a result, or a session rests after a run, before a sandbox is built.
 * Sooner it would take time from the answer itself.
 */
const prepareAfterMs = 25;

export class SandboxAhead {
  readonly #options: ExecutorOptions;
  readonly #context: RunContext;
  /** A call is likely: the conversation has used tools, or begins with file tools at hand. */
  #likely: boolean;
  /** The conversation has used tools. */
  #used: boolean;

  constructor(options: ExecutorOptions, context: RunContext, offer: Offer) {
    this.#options = options;
    this.#context = context;
    const past = context.history();
    this.#used = past.some((item) => item.kind === "tool_call");
    const files = offer.direct.some((name) => name.startsWith("fs."));
    this.#likely = this.#used || (past.length === 0 && files);
  }

  called(): void {
    this.#used = true;
    this.#likely = true;
  }

  /** While a model is asked; gives back what ends the wait. */
  asked(step: number): () => void {
    if (!this.#likely) return () => undefined;
    if (step === 0) {
      // The model cannot be quicker than this: its call finds the sandbox begun at least.
      this.#prepare(false);
      return () => undefined;
    }
    const timer = setTimeout(() => this.#prepare(false), prepareAfterMs);
    return () => clearTimeout(timer);
  }

  /** Keeps one for the next run of a conversation with tools; else what stands is ended. */
  over(complete: boolean): void {
    const { launcher } = this.#options;
    if (!complete || !this.#used || this.#context.scope.kind === "temp") {
      // Not waited for: the answer is complete, and the launcher's own close waits.
      void launcher.discard(this.#context);
      return;
    }
    if (launcher.rest(this.#context)) return;
    setTimeout(() => this.#prepare(true), prepareAfterMs).unref();
  }

  #prepare(resting: boolean): void {
    const { launcher, tree } = this.#options;
    if (this.#context.signal.aborted || (!resting && launcher.wake(this.#context))) return;
    try {
      const controls = loadAgent(tree, this.#context.agent);
      // It would stand there while a person thinks.
      if (controls.approval === "ask") return;
      launcher.prepare(standbyRequest(this.#options, this.#context, controls), { resting });
    } catch {
      // The next call meets the reason and reports it.
    }
  }
}
