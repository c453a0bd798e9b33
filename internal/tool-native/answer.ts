// From what a native tool printed and how it ended to the answer of the call.

import { type Code, isCode } from "../abi/mod.ts";
import { readResultLine } from "./judge.ts";

export interface ToolAnswer {
  readonly status: "ok" | "error";
  readonly code?: Code;
  readonly output: string;
}

/** How a call ended before its program did. */
export interface Stopped {
  readonly code: Extract<Code, "ETIMEDOUT" | "ECANCELED">;
  readonly because: string;
}

/**
 * One line `{"type":"result","status":…,"content":…}`, or plain text. A non-zero exit is an error
 * whatever was printed.
 */
export function nativeAnswer(
  stdout: string,
  stderr: string,
  exit: number,
  stopped: Stopped | undefined,
): ToolAnswer {
  if (stopped !== undefined) {
    const output = `${lineEnded(stdout)}[${stopped.because}]\n`;
    return { status: "error", code: stopped.code, output };
  }
  const result = resultIn(stdout);
  if (exit === 0) return result ?? { status: "ok", output: stdout };
  if (result !== undefined) return { ...result, status: "error" };
  const output = `${lineEnded(stdout)}${lineEnded(stderr)}[exit ${exit}]\n`;
  return { status: "error", output };
}

/** What is no result is text, also when it nearly is one: a tool may print any JSON. */
function resultIn(text: string): ToolAnswer | undefined {
  const line = withoutSpaceAround(text);
  if (!line.startsWith("{")) return undefined;
  const read = readResultLine(line);
  if (!read.ok) return undefined;
  const { status, content, code } = read.value;
  const output = typeof content === "string" ? content : JSON.stringify(content);
  return code !== undefined && isCode(code) ? { status, output, code } : { status, output };
}

/** White space as JSON knows it. */
const space = new Set([" ", "\t", "\r", "\n"]);

function withoutSpaceAround(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && space.has(text[start] as string)) start += 1;
  while (end > start && space.has(text[end - 1] as string)) end -= 1;
  return text.slice(start, end);
}

export function lineEnded(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
