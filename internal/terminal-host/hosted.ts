// The calls of one terminal: does what the machine says, with the shell's connection, timers and the
// collected output of each call.

import type { HostLine } from "../capability/mod.ts";
import type { CallPlan, LaunchIo } from "../launch/mod.ts";
import type { ServingShell, ShellListener } from "../run-socket/mod.ts";
import { Collected } from "./collected.ts";
import {
  type Calls,
  type Effect,
  type Ending,
  type MachineEvent,
  newCalls,
  step,
} from "./machine.ts";

export interface HostedCall {
  readonly run: string;
  readonly plan: CallPlan;
  /** What is shown of it. */
  readonly line: readonly string[];
}

interface Asked extends HostedCall {
  readonly collected: Collected;
  readonly settle: (ending: Ending) => void;
}

export class Hosted {
  readonly #asked = new Map<string, Asked>();
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  #absent: ReturnType<typeof setTimeout> | undefined;
  #state: Calls;
  #shell: ServingShell | undefined;
  #serial = 0;

  constructor() {
    const { next, effects } = newCalls();
    this.#state = next;
    for (const effect of effects) this.#take(effect);
  }

  get serves(): boolean {
    return this.#state.shell === "serves";
  }

  /** Undefined while another shell serves. */
  attach(shell: ServingShell): ShellListener | undefined {
    if (this.#shell !== undefined) return undefined;
    this.#shell = shell;
    const isOurs = () => this.#shell === shell;
    return {
      begun: () => this.#do({ type: "serves" }),
      line: (line) => {
        if (isOurs()) this.#do({ type: "line", line });
      },
      left: () => {
        if (!isOurs()) return;
        this.#shell = undefined;
        this.#do({ type: "left" });
      },
    };
  }

  note(text: string): void {
    if (this.serves) this.#say({ type: "note", text });
  }

  /** How it ended, and what it printed. Settles once, whatever happens. */
  async run(
    call: HostedCall,
    io: LaunchIo,
  ): Promise<{ readonly ending: Ending; readonly collected: Collected }> {
    this.#serial += 1;
    const id = `call-${this.#serial}`;
    const { promise, resolve } = Promise.withResolvers<Ending>();
    const collected = new Collected(call.plan, io);
    this.#asked.set(id, { ...call, collected, settle: resolve });
    const unwanted = () => this.#do({ type: "unwanted", id });
    this.#do({ type: "ask", id, timeoutMs: call.plan.payload.timeoutMs });
    io.signal.addEventListener("abort", unwanted);
    if (io.signal.aborted) unwanted();
    const ending = await promise;
    io.signal.removeEventListener("abort", unwanted);
    return { ending, collected };
  }

  over(): void {
    this.#do({ type: "over" });
    this.#shell = undefined;
  }

  #do(event: MachineEvent): void {
    const { next, effects } = step(this.#state, event);
    this.#state = next;
    for (const effect of effects) this.#take(effect);
  }

  #take(effect: Effect): void {
    switch (effect.type) {
      case "push":
        this.#push(effect.id);
        break;
      case "cancel":
        this.#say({ type: "cancel", id: effect.id, reason: effect.reason });
        break;
      case "output":
        this.#asked.get(effect.line.id)?.collected.take(effect.line);
        break;
      case "settle":
        this.#disarm(effect.id);
        this.#asked.get(effect.id)?.settle(effect.ending);
        this.#asked.delete(effect.id);
        break;
      case "arm": {
        const { id, kind, ms } = effect;
        this.#disarm(id);
        this.#timers.set(
          id,
          setTimeout(() => this.#do({ type: "timer", id, kind }), ms),
        );
        break;
      }
      case "arm-absent":
        clearTimeout(this.#absent);
        this.#absent = setTimeout(() => this.#do({ type: "absent" }), effect.ms);
        // A server that has nothing else to do may end.
        this.#absent.unref();
        break;
      case "disarm-absent":
        clearTimeout(this.#absent);
        break;
      case "cut": {
        const shell = this.#shell;
        this.#shell = undefined;
        shell?.cut(`the terminal's shell is not served any more: ${effect.because}`);
      }
    }
  }

  #push(id: string): void {
    const asked = this.#asked.get(id);
    if (asked === undefined) return;
    this.#say(callLine(id, asked));
  }

  /** A call is one line and a shell reads, so what the kernel does not take is bounded by that. */
  #say(line: HostLine): void {
    void this.#shell?.send(line);
  }

  #disarm(id: string): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }
}

export function callLine(id: string, { run, plan, line }: HostedCall): HostLine {
  const { payload, env, cwd } = plan;
  const { kind, program, stdin, combined, timeoutMs } = payload;
  return {
    ...{ type: "call", id, run, line, kind, program },
    ...(stdin === undefined ? {} : { stdin: new TextDecoder().decode(stdin) }),
    ...{ combined, env, cwd, timeout_ms: timeoutMs },
  } as const;
}
