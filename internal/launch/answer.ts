// From what a command printed and how it ended to the outcome of a call. What a native tool's output
// means is part of its protocol and told by tool-native.

import { lineEnded, type Stopped } from "../tool-native/mod.ts";
import type { LaunchOutcome } from "./types.ts";

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
