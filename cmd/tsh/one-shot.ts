// One tool for one command line: allowed by the host, then run with the words, the streams and the
// environment as they are, in this process's own group, so that whoever runs tsh has the job.

import { constants } from "node:os";
import { fail, objectName } from "../../internal/abi/mod.ts";
import { ignoreSignals, jobState, spawnJob } from "../../internal/os/mod.ts";
import { authorize, requireTerminal } from "./authorize.ts";
import { findTool, type ToolPath } from "./tool-path.ts";

/** Signals that are meant for the tool when they reach tsh alone. */
const passedOn = ["SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"] as const;

/** A signal's end as a shell tells it. */
export const signalStatus = (signal: number) => 128 + signal;

/** The file of a tool that may run now, by the host's word. */
export async function allowedTool(
  path: ToolPath,
  word: string,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<string> {
  const name = objectName("tool", word);
  const allowed = await authorize(requireTerminal(name), name, args, signal);
  // What was decided about is what runs; both look along the same CTX_PATH.
  const found = findTool(path, name);
  if (allowed === undefined || allowed === found.viewPath) return found.path;
  return fail("EACCES", `cannot run tool "${name}": the host decided about ${allowed}`, {
    hint: `CTX_PATH leads to ${found.viewPath}`,
  });
}

/** The tool's exit status; 128 and the number for a signal that ended it. */
export async function runOnce(
  path: ToolPath,
  name: string,
  args: readonly string[],
): Promise<number> {
  const file = await allowedTool(path, name, args);
  return waited(file, args);
}

/** Runs a program with this process's streams and group and waits for its end. */
export async function waited(file: string, args: readonly string[]): Promise<number> {
  let wake = () => {};
  process.on("SIGCHLD", () => wake());
  // The keys signal the whole group: the tool has its own answer to them, and tsh waits for it.
  ignoreSignals(["SIGINT", "SIGQUIT"]);
  const pid = spawnJob({
    path: file,
    argv: [file, ...args],
    env: process.env,
    streams: [0, 1, 2],
    group: "shared",
  });
  for (const name of passedOn) process.on(name, () => passOn(pid, name));
  for (;;) {
    const state = jobState(pid);
    if (state.kind === "exited") return state.status;
    if (state.kind === "killed") return signalStatus(state.signal);
    if (state.kind === "stopped" && state.signal !== constants.signals.SIGTSTP) {
      // It was stopped alone: whoever waits for tsh is told the same.
      process.kill(process.pid, "SIGSTOP");
      process.kill(pid, "SIGCONT");
    }
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
}

function passOn(pid: number, signal: (typeof passedOn)[number]): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has just ended.
  }
}
