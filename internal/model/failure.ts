// What can go wrong between here and a model server, as coded errors that a person can act on, and
// the scrubbing that keeps keys out of them. Pure. A server's own words are quoted, since they are
// often the only explanation, but never before they are scrubbed, cut and freed of control bytes.

import { type Code, CodedError } from "../abi/mod.ts";

/** Characters quoted of a server's message; the rest is cut with a mark. */
const quotedCharsMax = 300;

/** Keys shorter than this are not searched for: replacing them would only garble the text. */
const keyCharsMin = 4;

/** A failed attempt: the error to report, and whether the same call may be tried again. */
export class AttemptFailure extends Error {
  readonly error: CodedError;
  readonly again: boolean;
  /** What the server asked to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(error: CodedError, again: boolean, retryAfterMs?: number) {
    super(error.message);
    this.error = error;
    this.again = again;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Names that messages use. `key` is never shown; it is here to be found and removed. */
export interface Subject {
  readonly model: string;
  readonly provider: string;
  readonly host: string;
  readonly key: string | undefined;
}

/** Removes the key in any spelling a server may echo, and whatever else looks like a credential. */
export function scrub(text: string, key: string | undefined): string {
  let clean = text;
  if (key !== undefined && key.length >= keyCharsMin) {
    const spellings = [
      key,
      encodeURIComponent(key),
      JSON.stringify(key).slice(1, -1),
      btoaUtf8(key),
    ];
    for (const spelling of spellings) clean = clean.replaceAll(spelling, "[key]");
  }
  return clean
    .replace(/\b(bearer|basic)\s+[^\s"',;]+/gi, "$1 [key]")
    .replace(
      /\b((?:x-)?(?:api|auth|access)[-_]?(?:key|token)["']?\s*[:=]\s*["']?)[^\s"'&,;]+/gi,
      "$1[key]",
    )
    .replace(/([?&](?:key|token|sig|signature)=)[^\s"'&]+/gi, "$1[key]")
    .replace(/\bsk-[A-Za-z0-9_-]{8,}/g, "[key]")
    .replace(/(\/\/)[^\s/@]+@/g, "$1");
}

function btoaUtf8(text: string): string {
  return Buffer.from(text).toString("base64").replace(/=+$/, "");
}

/** What Bun's fetch adds for programmers. */
const runtimeAdvice = /For more information, pass `verbose: true`.*$/;

/** One printable line of a server's message, scrubbed first so that no cut leaves half a key. */
export function quoted(text: string, key: string | undefined): string {
  const line = scrub(text, key)
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ")
    .replace(runtimeAdvice, "")
    .trim()
    .replace(/\.$/, "");
  return line.length > quotedCharsMax ? `${line.slice(0, quotedCharsMax)}…` : line;
}

const tooLong =
  /context[ _-]?(?:length|window|size)|maximum context|too many tokens|prompt is too long|exceeds? the (?:model'?s )?(?:context|token)/i;

/** Where a provider's key is put. */
export function keyHint(provider: string): string {
  return `store a valid key as the user that ctxd runs as: run ctx auth login ${provider}`;
}

/** An HTTP answer that is not 2xx. `body` is what was read of it. */
export function httpFailure(
  subject: Subject,
  status: number,
  body: string,
  retryAfterMs?: number,
): AttemptFailure {
  const said = quoted(serverMessage(body), subject.key);
  const because = `${subject.host} answered ${status}${said === "" ? "" : `: ${said}`}`;
  const make = (code: Code, what: string, hint?: string) =>
    new CodedError(code, `${what}: ${because}`, hint === undefined ? {} : { hint });
  const model = `model "${subject.model}"`;
  if (status === 401 || status === 403) {
    const what = `provider "${subject.provider}" refused ${model}`;
    return new AttemptFailure(make("EACCES", what, keyHint(subject.provider)), false);
  }
  if (status === 413 || (status < 500 && status !== 429 && tooLong.test(body))) {
    return new AttemptFailure(make("EMSGSIZE", `the prompt is too long for ${model}`), false);
  }
  if (status === 404) {
    const hint = "check base_url and the model's name in the provider's file";
    return new AttemptFailure(make("ENOENT", `${model} was not found`, hint), false);
  }
  if (status === 408 || status === 429 || status >= 500) {
    return new AttemptFailure(make("EHOSTDOWN", `${model} is not available`), true, retryAfterMs);
  }
  return new AttemptFailure(make("EINVAL", `${model} refused the request`), false);
}

/** The message inside the usual error bodies, else the body itself. */
function serverMessage(body: string): string {
  try {
    const value = JSON.parse(body) as { error?: unknown; message?: unknown; detail?: unknown };
    const error = value.error as { message?: unknown } | string | undefined;
    for (const found of [typeof error === "string" ? error : error?.message, value.message]) {
      if (typeof found === "string") return found;
    }
  } catch {
    // Not JSON: a proxy's page or plain text.
  }
  return body.startsWith("<") ? "" : body;
}

/** Nothing came back at all: refused, reset, unknown host, bad certificate. */
export function connectionFailure(subject: Subject, thrown: unknown): AttemptFailure {
  const said = quoted(thrown instanceof Error ? thrown.message : String(thrown), subject.key);
  // Bun asks the reader whether the computer can access the url.
  const reason = /^(?:ECONNREFUSED: )?Unable to connect\./.test(said) ? "cannot connect" : said;
  const message = `model "${subject.model}" is not reachable at ${subject.host}: ${reason}`;
  const hint = `see that its server runs, and base_url of provider "${subject.provider}"`;
  return new AttemptFailure(new CodedError("EHOSTDOWN", message, { hint }), true);
}

/** The stream broke or made no sense. Before any output the whole call may be tried again. */
export function streamFailure(subject: Subject, reason: string, spoke: boolean): AttemptFailure {
  const code = spoke ? "EIO" : "EHOSTDOWN";
  const message = `the answer of model "${subject.model}" broke off: ${quoted(reason, subject.key)}`;
  return new AttemptFailure(new CodedError(code, message), !spoke);
}

/** Seconds or an HTTP date, as milliseconds from `now`; undefined when it is neither. */
export function parseRetryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  if (/^\s*[0-9]{1,9}(?:\.[0-9]+)?\s*$/.test(value)) return Math.ceil(Number(value) * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
