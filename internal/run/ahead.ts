// The sandbox of the next call, built before it is needed: when an input arrives whose run is likely to
// make one, while a model thinks, while a call is being recorded, and after a run for the session's
// next one. It changes no outcome, so whatever hinders it is silent here; the call meets the reason
// and reports it.

import type { SessionOfAgent } from "../launch/mod.ts";
import type { RunContext } from "../session/mod.ts";
import { isModelAgent, loadAgent } from "../tree/mod.ts";
import type { AnswerCall } from "./answer.ts";
import type { RunOptions } from "./environment.ts";
import { programOf, standbyRequest } from "./standby-request.ts";
import { tshTool } from "./tsh.ts";
import { stepWindow } from "./window.ts";

/**
 * How long a model thinks after a result, or a session rests after a run, before a sandbox is built.
 * Sooner it would take time from the answer itself.
 */
const prepareAfterMs = 25;

export class SandboxAhead {
  readonly #options: RunOptions;
  readonly #context: RunContext;
  /** The conversation has used tools. */
  #used: boolean;
  /** It has called tools without the tool shell, which run in no terminal. */
  #direct: boolean;
  #over = false;

  constructor(options: RunOptions, context: RunContext) {
    this.#options = options;
    this.#context = context;
    const calls = context.history().filter((item) => item.kind === "tool_call");
    this.#used = calls.length > 0;
    this.#direct = calls.some(({ name }) => name !== tshTool.name);
  }

  /** The run is about to begin: its input is on its way to the disk. */
  expected(): void {
    if (this.#likely) setImmediate(() => this.#prepare({ fileTools: !this.#used }));
  }

  /** While a model is asked; gives back what ends the wait. */
  asked(): () => void {
    if (!this.#likely) return () => undefined;
    const timer = setTimeout(() => this.#prepare({ fileTools: !this.#used }), prepareAfterMs);
    return () => clearTimeout(timer);
  }

  /**
   * A call is being recorded, which must be durable before anything of it runs. The gate is shut until
   * then; behind it the runner of a file tool has time to start.
   */
  recording(call: AnswerCall): void {
    this.#used = true;
    this.#direct ||= call.name !== tshTool.name;
    // The record's own write begins first.
    if (isFileCall(call)) setImmediate(() => this.#prepare({}));
  }

  /** The agent is a program, so every run of the session needs a sandbox for its first step. */
  stepping(): void {
    this.#used = true;
  }

  /**
   * Keeps one for the agent's next run after a conversation with tools; else what was built for this
   * run is ended.
   */
  over(complete: boolean): void {
    this.#over = true;
    const { launcher } = this.#options;
    const standby = this.#standby;
    // Neither is waited for: the answer is complete, and the launcher's own close waits.
    if (!complete || this.#context.scope.kind === "temp") {
      void launcher.discard(standby);
      return;
    }
    if (!this.#used) {
      void launcher.leave(standby);
      return;
    }
    if (launcher.rest(standby)) return;
    setTimeout(() => this.#prepare({ resting: true }), prepareAfterMs).unref();
  }

  /** A call is likely in a conversation that has used tools, or begins and has file tools. */
  get #likely(): boolean {
    return this.#used || this.#context.history().length === 0;
  }

  /** Whose sandbox it is: of the folder that this run has. */
  get #standby(): SessionOfAgent {
    const { agent, session, scope } = this.#context;
    try {
      const control = this.#options.folder.of(loadAgent(this.#options.tree, agent).uid);
      return { agent, session, scope, control };
    } catch {
      // Of an agent that is gone none stands.
      return { agent, session, scope };
    }
  }

  /** With `fileTools` only if the agent is offered any. */
  #prepare({ resting = false, fileTools = false }): void {
    const { launcher, tree, terminals } = this.#options;
    const { agent, signal } = this.#context;
    if (signal.aborted || this.#over !== resting) return;
    // Its calls find a sandbox that stands.
    if (!this.#direct && terminals?.serves(this.#context) && isModelAgent(tree, agent)) return;
    if (!resting && launcher.wake(this.#standby)) return;
    try {
      const controls = loadAgent(tree, agent);
      // Where approval is asked it would stand there while a person thinks.
      if (controls.approval === "ask") return;
      const request = standbyRequest(this.#options, this.#context, controls);
      if (!isModelAgent(tree, agent)) {
        const program = programOf(this.#options, agent);
        launcher.prepare(request, {
          resting,
          step: { program, window: stepWindow(tree, controls) },
        });
        return;
      }
      const offered = request.visible.filter(({ name }) => controls.tools.includes(name));
      if (fileTools && !offered.some(({ name }) => isFileTool(name))) return;
      launcher.prepare(request, { resting });
    } catch {
      // The call itself will meet the reason.
    }
  }
}

const isFileTool = (name: string) => name.startsWith("fs.");

function isFileCall({ name, args }: AnswerCall): boolean {
  if (name !== tshTool.name) return isFileTool(name);
  const words = (args as { args?: unknown } | undefined)?.args;
  return Array.isArray(words) && typeof words[0] === "string" && isFileTool(words[0]);
}
