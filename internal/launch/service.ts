// Starts a program that serves a run's calls, and keeps it until it is ended. The gates, checks and
// adjustments are those of any other launch.

import { closeSync } from "node:fs";
import { fail } from "../abi/mod.ts";
import { type RunningSandbox, startSandbox } from "../bwrap/mod.ts";
import { streamPair } from "../os/mod.ts";
import { adoptLines, type Connection } from "../sock/mod.ts";
import type { GeneratedFolders } from "./generated.ts";
import { gitEntries, newGitEntries } from "./git.ts";
import { drain, OutputTail } from "./output.ts";
import { type LaunchPlan, planService } from "./plan.ts";
import { explained } from "./refusal.ts";
import { type RunningService, type ServiceRequest, servicesMax } from "./service-types.ts";
import { Stand } from "./stand.ts";
import type { LauncherOptions, LiveLaunch } from "./types.ts";

/** All programs that serve runs. */
export class Services {
  readonly #options: LauncherOptions;
  readonly #folders: GeneratedFolders;
  readonly #closing: AbortSignal;
  /** Apart from other launches: what serves a run is none of the processes that may ask for it. */
  readonly #live = new Set<LiveLaunch>();
  readonly #running = new Set<RunningService>();
  #starting = 0;

  constructor(options: LauncherOptions, folders: GeneratedFolders, closing: AbortSignal) {
    this.#options = options;
    this.#folders = folders;
    this.#closing = closing;
  }

  folder(request: ServiceRequest): string {
    return planService(this.#options, this.#folders, request).spec.cwd;
  }

  async start(request: ServiceRequest, signal: AbortSignal): Promise<RunningService> {
    if (this.#running.size + this.#starting >= servicesMax) {
      fail("busy", `${servicesMax} programs that serve tools are running, and no more may`);
    }
    this.#starting += 1;
    try {
      const plan = planService(this.#options, this.#folders, request);
      const either = AbortSignal.any([signal, this.#closing]);
      const service = await startService(request, plan, this.#live, either);
      this.#running.add(service);
      void service.exited.then(() => this.#running.delete(service));
      return service;
    } finally {
      this.#starting -= 1;
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#running].map((service) => service.end(0)));
  }
}

/** Rejects in the words of the request; nothing of it is left then. */
async function startService(
  request: ServiceRequest,
  plan: LaunchPlan,
  live: Set<LiveLaunch>,
  signal: AbortSignal,
): Promise<RunningService> {
  const stand = new Stand(request, plan, live);
  const git = { now: gitEntries(plan.watched) };
  const [ours, theirs] = streamPair();
  let connection: Connection | undefined;
  try {
    connection = await adoptLines(ours, { lineBytesMax: request.lineBytesMax });
    const sandbox = await startSandbox({
      ...stand.options(signal),
      program: request.program,
      news: { run: request.run, session: request.session },
      combined: false,
      stdin: theirs,
    });
    return running(sandbox, connection, plan, stand, git);
  } catch (error) {
    connection?.destroy();
    await stand.end();
    throw explained(error, request.agent, plan);
  } finally {
    closeSync(theirs);
  }
}

function running(
  sandbox: RunningSandbox,
  connection: Connection,
  plan: LaunchPlan,
  stand: Stand,
  git: { now: ReadonlyMap<string, string> },
): RunningService {
  const tail = new OutputTail();
  // It says everything over its socket; what it prints by mistake is read and dropped.
  const drained = Promise.all([
    drain(sandbox.stderr, tail, undefined),
    drain(sandbox.stdout, new OutputTail(), undefined),
  ]);
  let ending: Promise<void> | undefined;
  const end = async (graceMs: number) => {
    connection.end();
    const timer = Promise.withResolvers<void>();
    const late = setTimeout(timer.resolve, graceMs);
    await Promise.race([sandbox.exited, timer.promise]);
    clearTimeout(late);
    await sandbox.kill(0);
    connection.destroy();
    await drained;
    await stand.end();
  };
  return {
    connection,
    exited: sandbox.exited,
    stderr: () => tail.text(),
    newGit() {
      const before = git.now;
      git.now = gitEntries(plan.watched);
      return newGitEntries(before, git.now);
    },
    end(graceMs) {
      ending ??= end(graceMs);
      return ending;
    },
  };
}
