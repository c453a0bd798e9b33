// How an input is admitted: its claim, the records of its acceptance, and the refusals.

import { type Code, CodedError } from "../abi/mod.ts";
import type { RunRequest } from "../interaction/mod.ts";
import type { Claims, Entry, SessionLog } from "../session-log/mod.ts";
import type { Placement } from "./placement.ts";
import { digestOf } from "./run-context.ts";
import type { SessionIndex } from "./session-files.ts";
import { placesOf, tshObject } from "./words.ts";

/** One input that the machine has admitted. */
export interface Admission {
  readonly run: string;
  readonly request: RunRequest;
  readonly digest: string;
  /** Name of the agent's model; undefined for words, which no model sees. */
  readonly model: string | undefined;
  /** It has to wait behind another run. */
  readonly queued: boolean;
  readonly claims: Claims;
}

/**
 * Makes an acceptance durable, its claim and message line first, and gives its sequence number.
 * When that fails the id is free again.
 */
export async function admit(
  admission: Admission,
  log: SessionLog,
  placement: Placement,
  index: SessionIndex | undefined,
): Promise<number> {
  const { request, digest, claims } = admission;
  const { key, relative, session } = placement;
  const claim = claims.take(request.id, key, digest, relative !== undefined);
  const { workspace, cwd } = placesOf(request);
  index?.used(session, workspace ?? cwd);
  try {
    const [first] = await log.appendDurable({ entries: acceptance(admission), claim });
    return first?.seq ?? 0;
  } catch (error) {
    claims.drop(request.id);
    throw error;
  }
}

/** Accepted, its message, and its start when nothing is before it; one batch, so all or nothing. */
function acceptance({ run, request, digest, model, queued }: Admission): Entry[] {
  const object = model === undefined ? tshObject : modelObject(model);
  const { id } = request;
  const common = { type: "request.accepted" as const, run, object, request: id, digest };
  const waits = queued ? { queued: true as const } : {};
  const entries: Entry[] = [{ event: { ...common, ...waits, ...said(request) } }];
  if (request.op === "send") {
    entries.push({ event: { type: "message", run, role: "user" }, text: request.input });
  }
  if (!queued) entries.push(startEntry(run, model));
  return entries;
}

/** What the sender said beside the input. Words stand in the record of their call alone. */
function said(request: RunRequest) {
  if (request.op === "tsh") return {};
  const { cwd, workspace, origin, event } = request;
  return {
    ...(cwd === undefined ? {} : { cwd }),
    ...(workspace === undefined ? {} : { workspace }),
    ...(origin === undefined ? {} : { origin }),
    ...(event === undefined ? {} : { event }),
  };
}

/** The record of a run that begins to work. */
export function startEntry(run: string, model: string | undefined): Entry {
  const object = model === undefined ? {} : { object: modelObject(model) };
  return { event: { type: "run.start", run, ...object } };
}

function modelObject(model: string): string {
  return `model/${model}`;
}

/**
 * The digest of what makes two inputs with one id the same. An origin is no part of it, so that a
 * retry may come another way; an input without an outside event has the digest it always had.
 */
export function inputDigest({ key }: Placement, request: RunRequest): string {
  if (request.op === "tsh") return digestOf([key, "tsh", request.args]);
  const { input, cwd = null, workspace = null, event } = request;
  const outside = event === undefined ? [] : [canonical(event)];
  return digestOf([key, input, cwd, workspace, ...outside]);
}

/** The same value with the keys of every object in one order, however a sender wrote them. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== "object" || value === null) return value;
  const sorted = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  // Pairs and not an object: its engine would put keys that look like numbers first.
  return { pairs: sorted.map(([name, one]) => [name, canonical(one)]) };
}

export function conflict(request: string): CodedError {
  return new CodedError(
    "request_conflict",
    `request id ${JSON.stringify(request)} was used with another payload, session or folder`,
    { hint: "use a new id for a new request" },
  );
}

/** What a client is told when the machine rejects its input. */
export function rejection(code: Code, request: string, session: string): CodedError {
  if (code === "request_conflict") return conflict(request);
  if (code === "busy") {
    return new CodedError("busy", `session "${session}" has as many waiting inputs as it may`, {
      hint: "send it again when one of them is done",
    });
  }
  return new CodedError(code, `session "${session}" is closing`);
}
