// Starts one sandbox and hands back its handle. The order is the safety: the launch root's pid and
// start time are known before the block gate opens; bubblewrap then builds the sandbox, whose first
// program says that it stands and waits for the token; the host checks and adjusts what only it can;
// the token is sent. A server killed anywhere in between leaves closed sockets, at which the gate
// ends itself: nothing ran, nothing stays.

import { closeSync, writeSync } from "node:fs";
import { CodedError, fail } from "../abi/mod.ts";
import { type ProcessStamp, processFacts, sameProcess } from "../os/mod.ts";
import {
  type GateNews,
  type GateOpening,
  type GeneratedProgram,
  gateReady,
  gateScript,
  gateToken,
  gateWarm,
} from "../sandbox/mod.ts";
import { type Channels, fenceDescriptor, gateDescriptor, openChannels } from "./channels.ts";
import { firstProcess } from "./first-process.ts";
import { explainFailure, sandboxHealth } from "./health.ts";
import { startJanitor } from "./janitor.ts";
import { endTree } from "./kill.ts";
import { endOrphans } from "./orphans.ts";
import { hostProgram } from "./programs.ts";
import { type Chunks, firstBytes, firstText, readChunks } from "./read.ts";
import { bubblewrapAs, type Identity } from "./setpriv.ts";

/** From spawn to a standing sandbox. Past it the launch fails with ETIMEDOUT. */
const startMsMax = 30_000;
/** How long a sandbox whose gates were closed may take to end by itself. */
const closedMsMax = 5000;
/** What is read of bubblewrap's own complaints. */
const complaintBytesMax = 4096;

/** A sandbox that stands and has run nothing yet. */
export interface StandingSandbox {
  /** bubblewrap's outer process: the launch root that capabilities are bound to. */
  readonly root: ProcessStamp;
  /** Process 1 of the sandbox, as the host numbers it. */
  readonly init: ProcessStamp;
}

export interface StartOptions {
  readonly arguments: readonly string[];
  readonly seccomp: Uint8Array;
  /** What the arguments name as generated programs, in the same order. */
  readonly programs?: readonly GeneratedProgram[];
  readonly program: readonly string[];
  /** What the program is told at its start, unless the release brings it. */
  readonly news?: GateNews;
  /** One stream for both outputs, in order of arrival. */
  readonly combined: boolean;
  /**
   * What the program reads; without it /dev/null; "later" when the release brings it. A number is a
   * descriptor that it gets as it is, such as a listening socket; the caller closes its own.
   */
  readonly stdin?: Uint8Array | "later" | number | undefined;
  /**
   * Starts the program once `prepare` is done, with an input of its own: one of ours that does
   * nothing before it has read it.
   */
  readonly warm?: boolean;
  /** Becomes this before bubblewrap starts; only root can. Without it the server's own. */
  readonly identity?: Identity | undefined;
  readonly signal: AbortSignal;
  /** Called before any gate opens. */
  register?(root: ProcessStamp): void;
  /** Called when the sandbox stands; a rejection ends it and nothing has run. */
  prepare?(sandbox: StandingSandbox): Promise<void> | void;
}

export interface RunningSandbox extends StandingSandbox {
  /** Each ends when the sandbox is gone; both must be read. `stderr` is silent when combined. */
  readonly stdout: AsyncIterable<Uint8Array>;
  readonly stderr: AsyncIterable<Uint8Array>;
  /** The program's exit status; 128 and the number for a signal. */
  readonly exited: Promise<number>;
  /** SIGTERM to all that runs inside, SIGKILL after the grace; resolves when all of it is gone. */
  kill(graceMs?: number): Promise<void>;
}

export interface LatePayload {
  readonly opening: GateOpening;
  readonly news?: GateNews;
  /** The text of a command. */
  readonly stdin?: Uint8Array;
  /** What the program that was started early reads; at most `warmInputBytesMax`. */
  readonly warm?: Uint8Array;
}

/** What a pipe takes at once, whoever reads it. Past it there is no writing without waiting. */
export const warmInputBytesMax = 60 * 1024;

/** A sandbox behind its closed gate. Exactly one of the two methods is called, once. */
export interface GatedSandbox extends StandingSandbox {
  /** Whether it still stands, as far as is known. */
  readonly alive: boolean;
  /** Opens the gate to its program, or to what comes `late` together with its standard input. */
  release(late?: LatePayload): RunningSandbox;
  /** Ends it with its gate shut: nothing has run. */
  discard(): Promise<void>;
}

export async function startSandbox(options: StartOptions): Promise<RunningSandbox> {
  const { news = {} } = options;
  return (await standSandbox(options)).release({ opening: { kind: "program" }, news });
}

export async function standSandbox(options: StartOptions): Promise<GatedSandbox> {
  // bubblewrap's --die-with-parent follows the thread that spawned it.
  if (!Bun.isMainThread) fail("EIO", "a sandbox can only be started from the main thread");
  startJanitor();
  const channels = openChannels(options);
  let child: Bun.Subprocess;
  try {
    child = spawn(options, channels);
  } catch (error) {
    channels.closeHost();
    throw error;
  } finally {
    channels.closeChild();
  }
  const root = processFacts(child.pid) ?? { pid: child.pid, startTime: "" };
  const stderr = readChunks(channels.stderr);
  try {
    options.register?.({ pid: root.pid, startTime: root.startTime });
    writeSync(channels.block, "1");
    await gateStands(channels, child, stderr, options.signal);
    const init = firstProcess(root.pid);
    const standing = { root: { pid: root.pid, startTime: root.startTime }, init };
    await options.prepare?.(standing);
    options.signal.throwIfAborted();
    if (options.warm) writeSync(channels.gate, gateWarm);
    return gated(standing, child, channels, stderr);
  } catch (error) {
    await shut(child, channels, stderr);
    // Killed in the step in which it would have woken its child, bubblewrap leaves that one waiting.
    if (child.signalCode !== null) endOrphans();
    throw error instanceof CodedError || !options.signal.aborted ? error : cancelled(error);
  }
}

function gated(
  standing: StandingSandbox,
  child: Bun.Subprocess,
  channels: Channels,
  stderr: Chunks,
): GatedSandbox {
  return {
    ...standing,
    get alive() {
      // The kernel knows of its end before the event loop does.
      return child.exitCode === null && child.signalCode === null && sameProcess(standing.root);
    },
    release(late) {
      try {
        if (late?.stdin) writeStdin(channels, late.stdin);
        writeSync(channels.gate, gateToken(late?.opening, late?.news));
        if (late?.warm) writeSync(channels.warm as number, late.warm);
      } catch (error) {
        // The gate is gone already, so nothing will run; its exit status says so.
        if ((error as { code?: unknown }).code !== "EPIPE") throw error;
      } finally {
        channels.closeGates();
      }
      return {
        ...standing,
        stdout: readChunks(channels.stdout),
        stderr,
        exited: child.exited,
        kill: (graceMs) => endTree(standing.init, child, graceMs),
      };
    },
    discard: () => shut(child, channels, stderr),
  };
}

/** At an offset of its own: the child shares the descriptor's position, which stays at the start. */
function writeStdin({ stdin }: Channels, bytes: Uint8Array): void {
  if (stdin === undefined) throw new TypeError("this sandbox was made without a late stdin");
  for (let at = 0; at < bytes.length; ) at += writeSync(stdin, bytes, at, bytes.length - at, at);
}

/** The closed gate ends the sandbox by itself, at whatever step it is. */
async function shut(child: Bun.Subprocess, channels: Channels, stderr: Chunks): Promise<void> {
  closeSync(channels.stdout);
  channels.closeGates();
  await endedOrKilled(child);
  await stderr.return();
}

/** A bubblewrap that hangs in a mount does not see its gate closed; only then is it killed. */
async function endedOrKilled(child: Bun.Subprocess): Promise<void> {
  const timer = setTimeout(() => child.kill(9), closedMsMax);
  await child.exited;
  clearTimeout(timer);
}

function cancelled(cause: unknown): CodedError {
  return new CodedError("ECANCELED", "the launch was cancelled", { cause });
}

function spawn(options: StartOptions, channels: Channels): Bun.Subprocess {
  const bwrap =
    hostProgram("bwrap") ?? fail("EHOSTDOWN", sandboxHealth()[0]?.problem ?? "no bwrap");
  const warm = options.warm ? fenceDescriptor + (channels.fenced ? 1 : 0) : undefined;
  const { combined } = options;
  const script = gateScript({ descriptor: gateDescriptor, combined, warm });
  const fence = channels.fenced ? [`/proc/self/fd/${fenceDescriptor}`] : [];
  const gate = [...fence, "/bin/sh", "-c", script, "gate", ...options.program];
  const { argv, become } = bubblewrapAs(options.identity, bwrap);
  return Bun.spawn([...argv, "--args", "3", "--", ...gate], {
    ...become,
    // What bubblewrap is given here could be read inside as /proc/1/environ.
    env: {},
    cwd: "/",
    stdio: [...channels.child] as ["ignore", number, number],
  });
}

/** Resolves when the gate says that it waits; rejects with bubblewrap's reason when it never will. */
async function gateStands(
  channels: Channels,
  child: Bun.Subprocess,
  stderr: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const ended = new AbortController();
  void child.exited.then(() => ended.abort());
  const either = AbortSignal.any([signal, ended.signal]);
  const said = await firstBytes(channels.gate, startMsMax, either);
  if (said.kind === "aborted" && !ended.signal.aborted) throw cancelled(signal.reason);
  if (said.kind === "timeout") {
    fail("ETIMEDOUT", `no sandbox stood after ${startMsMax} ms`);
  }
  if (said.kind === "text" && said.text.startsWith(gateReady)) return;
  // The child that a killed bubblewrap leaves waiting holds all the ends that are read here.
  if (child.signalCode !== null) endOrphans();
  const complaint = await firstText(stderr, complaintBytesMax);
  throw explainFailure(await child.exited, complaint);
}
