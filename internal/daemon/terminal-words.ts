// What a person says in a terminal about the tools that its session has loaded: done as the same words are
// that come on the agent's socket, so it is recorded, waits for what runs, and is one of the session's jobs.

import { randomUUID } from "node:crypto";
import { fail } from "../abi/mod.ts";
import type { OpFrame, SessionFrame, TshRequest } from "../interaction/mod.ts";
import type { Sessions } from "../session/mod.ts";

export interface TerminalWords {
  readonly agent: string;
  readonly session: string;
  readonly args: readonly string[];
  /** Nobody waits any more: what has not begun is not done. */
  readonly signal: AbortSignal;
}

export interface WordService {
  readonly sessions: Pick<Sessions, "send" | "cancel">;
  /** Throws a coded error when the agent cannot run now. */
  admit(request: TshRequest): void;
}

/** What the words came to. Throws the coded reason of a refusal. */
export async function doWords(service: WordService, words: TerminalWords): Promise<string> {
  const { agent, session, args, signal } = words;
  // The id is the host's: one that the sandbox chose could take that of an input which is to come.
  const id = `terminal-${randomUUID()}`;
  const request = { op: "tsh", id, session, scope: { kind: "private" }, args } as const;
  service.admit(request);
  const frames = await service.sessions.send(agent, request);
  let run: string | undefined;
  const stop = () => {
    if (run === undefined) return;
    frames.close();
    void cancel(service, agent, run);
  };
  signal.addEventListener("abort", stop);
  let result: Result | undefined;
  try {
    for await (const frame of frames) {
      if (frame.type === "start") {
        ({ run } = frame);
        if (signal.aborted) stop();
      }
      if (frame.type === "tool_result") result = frame;
      if (frame.type === "error") fail(frame.code, frame.message);
      if (frame.type === "done") return textOf(result, frame);
    }
  } finally {
    signal.removeEventListener("abort", stop);
    frames.close();
  }
  return fail("ECANCELED", `${args[0]} was given up`);
}

type Result = Extract<OpFrame, { type: "tool_result" }>;

async function cancel({ sessions }: WordService, agent: string, run: string): Promise<void> {
  try {
    await sessions.cancel(agent, run);
  } catch {
    // It has ended by itself at that moment, or the session is lost and has said so where it failed.
  }
}

function textOf(
  result: Result | undefined,
  { status, code }: Extract<SessionFrame, { type: "done" }>,
): string {
  if (result?.status === "ok") return result.content;
  if (result !== undefined) return fail(result.code ?? "EIO", reasonOf(result));
  const why = status === "ok" ? "it came to nothing" : `it was ${status}`;
  return fail(code ?? (status === "cancelled" ? "ECANCELED" : "EIO"), why);
}

/** A result is written for a model: the code is in its text, and a hint on a line of its own. */
function reasonOf({ code, content }: Result): string {
  const [reason = "", ...hints] = content.split("\nhint: ");
  return [reason.replace(` [${code}]`, ""), ...hints].join("; ");
}
