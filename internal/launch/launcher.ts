// One tool call or step, one sandbox: plan, start, check what stands, run, read, end, report. The
// sandbox is gone when the outcome is given.

import { endOrphans, type RunningSandbox, startSandbox, stopJanitor } from "../bwrap/mod.ts";
import type { Stopped } from "../tool-native/mod.ts";
import { checkWorkFolders } from "./admission.ts";
import { answerOf } from "./answer.ts";
import { type CallPlanner, planCall } from "./call-plan.ts";
import { endOrStop, type StopReason } from "./ending.ts";
import { GeneratedFolders } from "./generated.ts";
import { gitEntries, newGitEntries } from "./git.ts";
import { drain, OutputWindow } from "./output.ts";
import { type Payload, payloadOf } from "./payload.ts";
import { type LaunchPlan, planLaunch, planStep } from "./plan.ts";
import { Ahead, latePayload, releasedStandby } from "./prepare.ts";
import { preparedCall, refuseChanged } from "./prepared.ts";
import { explained, refusalOf } from "./refusal.ts";
import { Semaphore } from "./semaphore.ts";
import { Services } from "./service.ts";
import type { ServiceLauncher } from "./service-types.ts";
import { Stand } from "./stand.ts";
import { Standbys } from "./standby.ts";
import { checkStdin, runStep, stepRefusal } from "./step.ts";
import type { StepIo, StepOutcome, StepRequest } from "./step-types.ts";
import { planTerminal } from "./terminal-plan.ts";
import type { TerminalPlanner } from "./terminal-types.ts";
import type {
  Launcher,
  LauncherOptions,
  LaunchIo,
  LaunchOutcome,
  LaunchRequest,
  LiveLaunch,
} from "./types.ts";

export function createLauncher(
  options: LauncherOptions,
): Launcher & TerminalPlanner & CallPlanner & ServiceLauncher {
  endOrphans();
  const folders = new GeneratedFolders(options.runtime);
  const permits = new Semaphore(options.parallelMax);
  const live = new Set<LiveLaunch>();
  const running = new Set<Promise<unknown>>();
  const standbys = new Standbys(options.standbyMs);
  const closing = new AbortController();
  const services = new Services(options, folders, closing.signal);
  const ahead = new Ahead({ options, folders, permits, live, standbys, closing: closing.signal });

  async function launch(request: LaunchRequest, io: LaunchIo): Promise<LaunchOutcome> {
    const signal = AbortSignal.any([io.signal, closing.signal]);
    try {
      return await permits.hold(signal, async () => {
        const payload = payloadOf(request);
        const plan = planLaunch(options, folders, request);
        // As late as can be: after the wait for a place, on the plan that is started.
        if (request.approved) refuseChanged(request, preparedCall(options, request, plan));
        return await runPlan({ request, io, signal, plan, payload, live, standbys });
      });
    } catch (error) {
      return refused(error);
    }
  }

  async function step(request: StepRequest, io: StepIo): Promise<StepOutcome> {
    const signal = AbortSignal.any([io.signal, closing.signal]);
    try {
      checkStdin(request.stdin);
      return await permits.hold(signal, async () => {
        const plan = planStep(options, folders, request);
        const next = (over: boolean) =>
          over ? ahead.stepSoon(request, plan) : ahead.step(request, plan);
        return await runStep({ request, io, signal, plan, live, standbys, next });
      });
    } catch (error) {
      return stepRefusal(error, signal);
    }
  }

  return {
    check: (request) => checkWorkFolders(options, request),
    serviceFolder: (request) => services.folder(request),
    startService: (request, signal) => tracked(running, services.start(request, signal)),
    planTerminal: (request) => planTerminal(options, folders, request),
    planCall: (request) => planCall(options, folders, request),
    examine(request) {
      payloadOf(request);
      return preparedCall(options, request, planLaunch(options, folders, request));
    },
    run: (request, io) => tracked(running, launch(request, io)),
    step: (request, io) => tracked(running, step(request, io)),
    prepare(request, { resting = false, step } = {}) {
      if (step !== undefined) ahead.step({ ...request, ...step });
      ahead.call(request);
      if (resting) ahead.rest(request);
    },
    wake: (session) => standbys.wake(session),
    rest: (session) => ahead.rest(session),
    leave: (session) => standbys.leave(session),
    discard: (session) => ahead.discard(session),
    live: () => [...live],
    close: () => closeAll({ closing, standbys, running, services }),
  };
}

interface Closing {
  readonly closing: AbortController;
  readonly standbys: Standbys;
  readonly running: ReadonlySet<Promise<unknown>>;
  readonly services: Services;
}

async function closeAll({ closing, standbys, running, services }: Closing): Promise<void> {
  closing.abort();
  await standbys.close();
  await Promise.allSettled(running);
  await services.close();
  await standbys.close();
  stopJanitor();
}

function tracked<T>(running: Set<Promise<unknown>>, outcome: Promise<T>): Promise<T> {
  running.add(outcome);
  return outcome.finally(() => running.delete(outcome));
}

function refused(error: unknown): LaunchOutcome {
  const { code, message } = refusalOf(error);
  return { status: "error", code, output: message, dropped: 0, exit: undefined, newGit: [] };
}

interface Call {
  readonly request: LaunchRequest;
  readonly io: LaunchIo;
  readonly signal: AbortSignal;
  readonly plan: LaunchPlan;
  readonly payload: Payload;
  readonly live: Set<LiveLaunch>;
  readonly standbys: Standbys;
}

async function runPlan(call: Call): Promise<LaunchOutcome> {
  const { request, plan, payload, live, signal, standbys } = call;
  const before = gitEntries(plan.watched);
  const stand = new Stand(request, plan, live);
  try {
    const late = latePayload(payload, request);
    const ready = late && (await releasedStandby(standbys, "call", { ...call, stand }, late));
    const sandbox =
      ready ??
      (await startSandbox({
        ...stand.options(signal),
        program: payload.program,
        news: { run: request.run, session: request.session },
        combined: payload.combined,
        stdin: payload.stdin,
      }));
    const outcome = await finish(sandbox, call);
    const newGit = newGitEntries(before, gitEntries(plan.watched));
    return { ...outcome, newGit, output: outcome.output + newGitNote(newGit) };
  } catch (error) {
    throw explained(error, request.agent, plan);
  } finally {
    await stand.end();
  }
}

async function finish(
  sandbox: RunningSandbox,
  { payload, io, signal }: Call,
): Promise<Omit<LaunchOutcome, "newGit">> {
  const windows = { stdout: new OutputWindow(), stderr: new OutputWindow() };
  const live = payload.kind === "command" ? (text: string) => io.onOutput(text) : undefined;
  const drained = Promise.all([
    drain(sandbox.stdout, windows.stdout, live),
    drain(sandbox.stderr, windows.stderr, live),
  ]);
  const { timeoutMs } = payload;
  const stopped = stoppedBy(await endOrStop(sandbox, { timeoutMs, signal }), timeoutMs);
  const exit = await sandbox.exited;
  // The program is over; what it left running is not waited for.
  await sandbox.kill(0);
  await drained;
  return answerOf(payload, windows, exit, stopped);
}

function stoppedBy(reason: StopReason | undefined, timeoutMs: number): Stopped | undefined {
  if (reason === undefined) return undefined;
  return reason === "timeout"
    ? { code: "ETIMEDOUT", because: `stopped: it ran longer than ${timeoutMs} ms` }
    : { code: "ECANCELED", because: "stopped: cancelled" };
}

/** Said in a call's output. */
export function newGitNote(paths: readonly string[]): string {
  return paths
    .map((path) => `[a new "${path}" appeared during this call: hooks in it would run as you]\n`)
    .join("");
}
