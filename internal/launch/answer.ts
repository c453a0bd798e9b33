// From what a program printed and how it ended to the outcome of a call.

import { type Code, isCode } from "../abi/mod.ts";
import type { LaunchOutcome } from "./types.ts";

type Answer = Pick<LaunchOutcome, "status" | "code" | "output">;

/** How a call ended before its program did. */
export interface Stopped {
  readonly code: Extract<Code, "ETIMEDOUT" | "ECANCELED">;
  readonly because: string;
}

/** The text of a shell.exec call. A command's exit status is data, not an error of the call. */
export function commandAnswer(
  streams: { readonly combined: string } | { readonly stdout: string; readonly stderr: string },
  exit: number,
  stopped: Stopped | undefined,
): Answer {
  const text =
    "combined" in streams
      ? lineEnded(streams.combined)
      : `[stdout]\n${lineEnded(streams.stdout)}[stderr]\n${lineEnded(streams.stderr)}`;
  if (stopped === undefined) return { status: "ok", output: `${text}[exit ${exit}]\n` };
  return { status: "error", code: stopped.code, output: `${text}[${stopped.because}]\n` };
}

/**
 * The answer of a native tool: one line `{"type":"result","status":…,"content":…}`, or plain text.
 * A non-zero exit is an error whatever was printed.
 */
export function nativeAnswer(
  stdout: string,
  stderr: string,
  exit: number,
  stopped: Stopped | undefined,
): Answer {
  if (stopped !== undefined) {
    const output = `${lineEnded(stdout)}[${stopped.because}]\n`;
    return { status: "error", code: stopped.code, output };
  }
  const result = resultLine(stdout);
  if (exit === 0) return result ?? { status: "ok", output: stdout };
  if (result !== undefined) return { ...result, status: "error" };
  const output = `${lineEnded(stdout)}${lineEnded(stderr)}[exit ${exit}]\n`;
  return { status: "error", output };
}

function resultLine(text: string): Answer | undefined {
  const line = text.trim();
  if (!line.startsWith("{") || line.includes("\n")) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  const { type, status, content, code } = value as Record<string, unknown>;
  if (type !== "result" || (status !== "ok" && status !== "error")) return undefined;
  const output = typeof content === "string" ? content : JSON.stringify(content ?? null);
  if (typeof code === "string" && isCode(code)) return { status, output, code };
  return { status, output };
}

function lineEnded(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
