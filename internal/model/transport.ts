// The one place that opens a connection to a model server. It bounds what comes back, follows no
// redirect (a key must not travel to a host that nobody configured), uses no proxy of the
// environment, and turns every HTTP status that is not 2xx into a coded failure itself, so that the
// SDK above it never builds an error that holds headers.

import { CodedError } from "../abi/mod.ts";
import {
  AttemptFailure,
  connectionFailure,
  httpFailure,
  parseRetryAfter,
  type Subject,
} from "./failure.ts";
import { StreamEnd } from "./stream-end.ts";

/** Bytes of one answer, as they arrive. Past it the call fails with EMSGSIZE. */
export const answerBytesMax = 16 * 1024 * 1024;

/** Bytes read of an error answer; the rest is not fetched. */
const errorBytesMax = 64 * 1024;

/** Silence of a server, in milliseconds: before its first byte or between two. Past it ETIMEDOUT. */
export const answerIdleMsMax = 300_000;

export interface TransportOptions {
  readonly subject: Subject;
  readonly idleMs: number;
  readonly bytesMax: number;
}

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** A fetch for one client. Failures it knows are thrown as AttemptFailure. */
export function boundedFetch(options: TransportOptions): typeof fetch {
  const { subject } = options;
  const call: Fetch = async (input, init) => {
    refuseProxies();
    const idle = new IdleTimer(options.idleMs);
    const outer = init?.signal;
    const signal = outer ? AbortSignal.any([outer, idle.signal]) : idle.signal;
    try {
      // Bun's own limit of five minutes a request is replaced by the limit on silence.
      const own = { ...init, signal, redirect: "manual", timeout: false } as RequestInit;
      const response = await fetch(input, own);
      idle.restart();
      if (!response.ok) throw await refusal(subject, response);
      checkKind(subject, response);
      return bounded(response, options, idle);
    } catch (thrown) {
      idle.stop();
      if (idle.expired) throw silence(options);
      if (thrown instanceof AttemptFailure || outer?.aborted) throw thrown;
      throw connectionFailure(subject, thrown);
    }
  };
  return call as typeof fetch;
}

/** Bun's fetch reads HTTP_PROXY and its kin at each call and has no option against it but this. */
function refuseProxies(): void {
  process.env["NO_PROXY"] = "*";
  process.env["no_proxy"] = "*";
}

async function refusal(subject: Subject, response: Response): Promise<AttemptFailure> {
  const { status } = response;
  if (status >= 300 && status < 400) {
    await response.body?.cancel();
    const message = `model "${subject.model}" is elsewhere: ${subject.host} answered ${status}`;
    const hint = "redirects are not followed; correct base_url in the provider's file";
    return new AttemptFailure(new CodedError("EINVAL", message, { hint }), false);
  }
  const wait = parseRetryAfter(response.headers.get("retry-after"), Date.now());
  return httpFailure(subject, status, await firstBytes(response), wait);
}

async function firstBytes(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  if (response.body === null) return "";
  for await (const chunk of response.body) {
    text += decoder.decode(chunk.subarray(0, errorBytesMax - bytes), { stream: true });
    bytes += chunk.length;
    if (bytes >= errorBytesMax) break;
  }
  return text;
}

function checkKind(subject: Subject, response: Response): void {
  const kind = (response.headers.get("content-type") ?? "").split(";")[0]?.trim() ?? "";
  if (kind !== "application/json" && kind !== "text/html") return;
  void response.body?.cancel().catch(() => {});
  const message = `model "${subject.model}" did not stream: ${subject.host} answered ${kind}`;
  throw new AttemptFailure(new CodedError("EIO", message), false);
}

function silence(options: TransportOptions): AttemptFailure {
  const message = `model "${options.subject.model}" was silent for ${options.idleMs} ms`;
  return new AttemptFailure(new CodedError("ETIMEDOUT", message), false);
}

/** The same response with its body counted and watched, over as soon as the server says so. */
function bounded(response: Response, options: TransportOptions, idle: IdleTimer): Response {
  if (response.body === null) return response;
  const reader = response.body.getReader();
  const end = new StreamEnd();
  let bytes = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          idle.restart();
          if (done) {
            idle.stop();
            controller.close();
            return;
          }
          bytes += value.length;
          if (bytes > options.bytesMax) throw tooMuch(options);
          const length = end.push(value);
          controller.enqueue(value.subarray(0, length));
          if (length === undefined) return;
          idle.stop();
          controller.close();
          void reader.cancel().catch(() => {});
        } catch (thrown) {
          idle.stop();
          controller.error(idle.expired ? silence(options) : thrown);
          void reader.cancel().catch(() => {});
        }
      },
      cancel(reason) {
        idle.stop();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { status: response.status, headers: response.headers });
}

function tooMuch(options: TransportOptions): AttemptFailure {
  const message = `the answer of model "${options.subject.model}" is longer than ${options.bytesMax} bytes`;
  return new AttemptFailure(new CodedError("EMSGSIZE", message), false);
}

/** Fires its signal after `ms` without `restart`. */
class IdleTimer {
  readonly #controller = new AbortController();
  readonly #ms: number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(ms: number) {
    this.#ms = ms;
    this.restart();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get expired(): boolean {
    return this.#controller.signal.aborted;
  }

  restart(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#controller.abort(), this.#ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
