// load, pin and their like change what the agent's session has loaded, which its host keeps. The host does
// it as a job of the session, so it waits for a run that is active.

import { codes, fail, isCode } from "../../internal/abi/mod.ts";
import {
  decodeCapabilityAnswer,
  decodeWordAnswer,
  encodeTerminalCall,
} from "../../internal/capability/mod.ts";
import { note } from "../../internal/cli/mod.ts";
import { connectHost, terminalSocket } from "./authorize.ts";

/** Milliseconds until the person is told that the answer takes its time. */
const patienceMs = 1000;

/** Gives the host's answer to a word and its names, as text. */
export type Ask = (words: readonly string[]) => Promise<string>;

export interface Patience {
  /** Aborted when the person does not wait any more. */
  readonly signal?: AbortSignal;
  /** Called once, when the answer takes its time. What it throws ends the wait. */
  waits(): void;
}

/** For a command that is alone on its terminal. */
export const askAlone: Ask = (words) =>
  askWord(words, {
    waits() {
      if (!process.env["CTX_RUN_ID"]) return noteWait();
      // A call of the agent waits for this program: to wait for its run would be to wait for each other.
      fail("busy", "a run of the session goes on, and may be waiting for this program", {
        hint: "the agent itself loads and pins tools with its calls of tsh",
      });
    },
  });

export function noteWait(): void {
  note("waiting for the run to end; Ctrl-C gives up");
}

/** Throws EACCES outside of an agent's terminal. */
export async function askWord(words: readonly string[], wait: Patience): Promise<string> {
  const [word] = words;
  const socket =
    terminalSocket() ??
    fail("EACCES", `cannot ${word}: this is not an agent's terminal`, {
      hint: "what is loaded belongs to a session of an agent",
    });
  const { signal } = wait;
  const connection = await connectHost(socket);
  const stop = () => connection.destroy();
  signal?.addEventListener("abort", stop);
  const slow = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    try {
      wait.waits();
    } catch (error) {
      slow.reject(error);
    }
  }, patienceMs);
  try {
    if (signal?.aborted) stop();
    const request_id = crypto.randomUUID();
    await connection.send(encodeTerminalCall({ op: "tsh", request_id, args: words }));
    const line = await Promise.race([connection.next(), slow.promise]);
    if (signal?.aborted) fail("ECANCELED", `${word} was given up`);
    if (line === undefined) {
      return fail("EHOSTDOWN", `the host closed the connection before it answered "${word}"`, {
        hint: "loads says whether it was done",
      });
    }
    if (!line.ok) return fail(line.code, `the host sent a broken answer: ${line.reason}`);
    return answerOf(line.line, `${word}`);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
    connection.destroy();
  }
}

function answerOf(line: string, word: string): string {
  const done = decodeWordAnswer(line);
  if (done.ok) return done.frame.text;
  const refused = decodeCapabilityAnswer(line);
  if (!refused.ok || !("ok" in refused.answer) || refused.answer.ok) {
    return fail("EIO", `the host sent another answer to "${word}" than was asked for`);
  }
  const { code, message } = refused.answer;
  // A code that this build does not know is a failure of the host all the same.
  const known = isCode(code) ? code : "EIO";
  return fail(known, `cannot ${word}: ${message || codes[known].meaning}`);
}
