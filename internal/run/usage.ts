// Tokens of a run by model, recorded once: a run of many steps is still one bill.

import type { RunContext } from "../session/mod.ts";

export interface Used {
  /** Undefined for what an executable agent says of itself. */
  readonly model: string | undefined;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export class UsageSum {
  readonly #sums = new Map<string | undefined, { input: number; output: number }>();

  add({ model, inputTokens, outputTokens }: Used): void {
    if (inputTokens === 0 && outputTokens === 0) return;
    const sum = this.#sums.get(model) ?? { input: 0, output: 0 };
    sum.input = within(sum.input + inputTokens);
    sum.output = within(sum.output + outputTokens);
    this.#sums.set(model, sum);
  }

  async record(context: Pick<RunContext, "usage">): Promise<void> {
    for (const [model, sum] of this.#sums) {
      this.#sums.delete(model);
      await context.usage(model, sum.input, sum.output);
    }
  }
}

/** An agent may say any number; a sum past what a frame can carry stays there. */
function within(tokens: number): number {
  return Math.min(tokens, Number.MAX_SAFE_INTEGER);
}
