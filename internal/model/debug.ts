// The two built-in models as clients: they need no provider, key or network, and import nothing.

import { fail } from "../abi/mod.ts";
import { deltas, lastTurn, scriptStep } from "./script.ts";
import type { ModelClient, ModelEvent, ModelRequest } from "./types.ts";

/** Characters of one delta of debug/echo; small, so that streaming can be seen. */
const echoDeltaCharsMax = 256;

export function echoClient(name: string, limit: number | undefined): ModelClient {
  return { name, limit, stream: (request) => echo(request) };
}

async function* echo(request: ModelRequest): AsyncIterable<ModelEvent> {
  for (const delta of deltas(lastTurn(request.messages).text, echoDeltaCharsMax)) {
    checkCancelled(request.signal);
    yield delta;
  }
  yield { type: "finish" };
}

export function scriptClient(name: string, limit: number | undefined): ModelClient {
  return { name, limit, stream: (request) => script(request) };
}

async function* script(request: ModelRequest): AsyncIterable<ModelEvent> {
  for (const event of scriptStep(request.messages)) {
    checkCancelled(request.signal);
    if (event.type === "delay") await pause(event.ms, request.signal);
    else if (event.type === "error") fail(event.code, event.text);
    else yield event;
  }
}

function checkCancelled(signal: AbortSignal): void {
  if (signal.aborted) fail("ECANCELED", "the model call was cancelled");
}

/** Waits or throws ECANCELED as soon as the signal fires; leaves no timer and no listener. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  checkCancelled(signal);
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      try {
        checkCancelled(signal);
      } catch (cancelled) {
        reject(cancelled);
      }
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
}
