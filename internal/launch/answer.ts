// From what a command printed and how it ended to the outcome of a call. What a native tool's output
// means is part of its protocol and told by tool-native.

import { lineEnded, nativeAnswer, type Stopped } from "../tool-native/mod.ts";
import type { OutputWindow } from "./output.ts";
import type { Payload } from "./payload.ts";
import type { LaunchOutcome } from "./types.ts";

/** What a program has printed, as far as it is kept. */
export interface Printed {
  readonly stdout: OutputWindow;
  readonly stderr: OutputWindow;
}

/** The outcome of a program that ended with `exit` or was stopped, wherever it ran. */
export function answerOf(
  { kind, combined }: Pick<Payload, "kind" | "combined">,
  printed: Printed,
  exit: number,
  stopped: Stopped | undefined,
): Omit<LaunchOutcome, "newGit"> {
  const stdout = printed.stdout.text();
  const stderr = printed.stderr.text();
  const answer =
    kind === "native"
      ? nativeAnswer(stdout, stderr, exit, stopped)
      : commandAnswer(combined ? { combined: stdout } : { stdout, stderr }, exit, stopped);
  const dropped = printed.stdout.dropped + printed.stderr.dropped;
  return { ...answer, dropped, exit: stopped === undefined ? exit : undefined };
}

/** The text of a shell.exec call. A command's exit status is data, not an error of the call. */
export function commandAnswer(
  streams: { readonly combined: string } | { readonly stdout: string; readonly stderr: string },
  exit: number,
  stopped: Stopped | undefined,
): Pick<LaunchOutcome, "status" | "code" | "output"> {
  const text =
    "combined" in streams
      ? lineEnded(streams.combined)
      : `[stdout]\n${lineEnded(streams.stdout)}[stderr]\n${lineEnded(streams.stderr)}`;
  if (stopped === undefined) return { status: "ok", output: `${text}[exit ${exit}]\n` };
  return { status: "error", code: stopped.code, output: `${text}[${stopped.because}]\n` };
}
