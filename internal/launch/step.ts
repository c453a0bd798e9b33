// One step of an executable agent, one sandbox: start the program behind the gates, hand on what it
// prints as fast as the reader takes it, end everything, report. Nothing of what it prints is judged.

import { fail, opLineBytesMax } from "../abi/mod.ts";
import { type RunningSandbox, startSandbox } from "../bwrap/mod.ts";
import { type AgentProgramPlan, unstarted } from "./agent-program.ts";
import { endOrStop } from "./ending.ts";
import { gitEntries, newGitEntries } from "./git.ts";
import { drain, OutputTail } from "./output.ts";
import type { LaunchPlan } from "./plan.ts";
import { releasedStandby } from "./prepare.ts";
import { explained, refusalOf } from "./refusal.ts";
import { Stand } from "./stand.ts";
import type { Standbys } from "./standby.ts";
import type { StepIo, StepOutcome, StepRequest } from "./step-types.ts";
import type { LiveLaunch } from "./types.ts";

/** All that a step reads. Past it EMSGSIZE, and nothing is started. */
const stepInputBytesMax = opLineBytesMax;

export interface Step {
  readonly request: StepRequest;
  readonly io: StepIo;
  readonly signal: AbortSignal;
  readonly plan: LaunchPlan & { readonly program: AgentProgramPlan };
  readonly live: Set<LiveLaunch>;
  readonly standbys: Standbys;
  /**
   * Called when its program has run for `nextAfterMs`, or is over: the sandbox of the next one can be
   * built.
   */
  next(over: boolean): void;
}

/**
 * How long a program has the processors to itself for its start. Most are slow after that because they
 * wait; the short ones are over by then.
 */
const nextAfterMs = 25;

/** What a reader threw, which is no failure of the launch. */
export class ReaderFailed extends Error {}

/** The outcome of a launch that failed, or was not wanted any more before it began. */
export function stepRefusal(error: unknown, signal: AbortSignal): StepOutcome {
  if (error instanceof ReaderFailed) throw error.cause;
  const refusal = refusalOf(error);
  const stopped = refusal.code === "ECANCELED" && signal.aborted ? "cancelled" : undefined;
  return { exit: undefined, stopped, stderr: "", ...refusal };
}

/** Throws EMSGSIZE for more than a step may be given. */
export function checkStdin({ length }: Uint8Array): void {
  if (length <= stepInputBytesMax) return;
  fail("EMSGSIZE", `the input of a step is longer than ${stepInputBytesMax} bytes`);
}

export async function runStep(step: Step): Promise<StepOutcome> {
  const { request, plan, live, signal, standbys, next } = step;
  const before = gitEntries(plan.watched);
  const stand = new Stand(request, plan, live);
  try {
    const { run, session, step: count } = request;
    const news = { run, session, step: count };
    // A file in memory: it takes everything at once, whether the program reads it or not.
    const { stdin } = request;
    const late = { opening: { kind: "program" }, news, stdin } as const;
    const ready = await releasedStandby(standbys, "step", { request, plan, stand }, late);
    const program = [plan.program.view];
    const sandbox =
      ready ??
      (await startSandbox({ ...stand.options(signal), program, news, combined: false, stdin }));
    const outcome = await preparingNext(next, () => finish(sandbox, step));
    return { ...outcome, newGit: newGitEntries(before, gitEntries(plan.watched)) };
  } catch (error) {
    throw explained(error, request.agent, plan);
  } finally {
    await stand.end();
  }
}

async function preparingNext<T>(next: Step["next"], work: () => Promise<T>): Promise<T> {
  let asked = false;
  const timer = setTimeout(() => {
    asked = true;
    next(false);
  }, nextAfterMs);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
    if (!asked) next(true);
  }
}

async function finish(sandbox: RunningSandbox, step: Step): Promise<StepOutcome> {
  const { request, io, signal, plan } = step;
  const tail = new OutputTail();
  const stdout = new Reading(sandbox, io);
  const drained = drain(sandbox.stderr, tail, undefined);
  const { timeoutMs } = request;
  const stopped = await endOrStop(sandbox, { timeoutMs, signal, reader: stdout.stopped });
  if (stopped !== undefined) stdout.end();
  const exit = await sandbox.exited;
  // The program is over; what it left running is not waited for.
  await sandbox.kill(0);
  await Promise.all([stdout.done, drained]);
  if (stdout.failure !== undefined) throw stdout.failure;
  const stderr = tail.text();
  const reason = stopped ?? (stdout.hasStopped ? "reader" : undefined);
  if (reason !== undefined) return { exit: undefined, stopped: reason, stderr };
  const failed = stdout.empty
    ? unstarted(plan.program, plan.identity.uid, exit, stderr)
    : undefined;
  if (failed === undefined) return { exit, stopped: undefined, stderr };
  const { code, message } = failed;
  return { exit: undefined, stopped: undefined, stderr, code, message };
}

/** Standard output on its way to the reader, one piece at a time. */
class Reading {
  readonly done: Promise<void>;
  readonly stopped: Promise<void>;
  hasStopped = false;
  empty = true;
  failure: ReaderFailed | undefined;
  #ended = false;
  readonly #stop: () => void;

  constructor(sandbox: RunningSandbox, io: StepIo) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.stopped = promise;
    this.#stop = resolve;
    this.done = this.#read(sandbox, io);
  }

  /** Nothing is handed on any more. */
  end(): void {
    this.#ended = true;
  }

  async #read({ stdout }: RunningSandbox, io: StepIo): Promise<void> {
    for await (const bytes of stdout) {
      if (this.#ended) return;
      this.empty = false;
      try {
        if ((await io.onStdout(bytes)) !== "stop") continue;
      } catch (cause) {
        this.failure = new ReaderFailed("the reader of a step failed", { cause });
      }
      this.hasStopped = true;
      this.#stop();
      return;
    }
  }
}
