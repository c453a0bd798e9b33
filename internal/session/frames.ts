// From a durable record to the frame that clients see. Pure, so that a replay sends the same bytes
// as the first time. Frame ids: `start` has the request's id, a call and its result the call's id,
// everything else `evt-<seq>`; each of them can be given back as `after` in a resume.
//
// One `start` stands for an input: it is the acceptance, with `queued: true` when the input had to
// wait. That its run begins to work is told by `started`, which not every wire passes on.

import type { OpFrame, RunStatus, SessionFrame, StartedFrame } from "../interaction/mod.ts";
import type { EventRecord, StoredRecord } from "../session-log/mod.ts";
import { tshObject } from "./words.ts";

/** What a `start` says of words for the tool shell, which no model sees. */
const noModel = "none";

/** Undefined for records that have no frame: session.open, run.cancel and unknown ones. */
export function frameOf({ event, message }: StoredRecord): SessionFrame | undefined {
  const { seq, run } = event;
  if (run === undefined) return undefined;
  const id = eventId(seq);
  switch (event.type) {
    case "request.accepted":
      return startFrame(event, run);
    case "run.start":
      return startedFrame(event, run);
    case "message":
      return {
        type: "message",
        id,
        seq,
        run,
        role: event.role ?? "user",
        content: (message?.content ?? []).map(({ type, text }) => ({ type, text })),
      };
    case "tool.call":
    case "tool.result":
      return toolFrame(event, run);
    case "usage": {
      const { input_tokens = 0, output_tokens = 0 } = event;
      return { type: "usage", id, seq, run, input_tokens, output_tokens };
    }
    case "error":
      return { type: "error", id, seq, run, code: event.code ?? "EIO", message: event.text ?? "" };
    case "run.done": {
      const code = event.code === undefined ? {} : { code: event.code };
      return {
        type: "done",
        id,
        seq,
        run,
        status: (event.status ?? "error") as RunStatus,
        ...code,
      };
    }
    default:
      return undefined;
  }
}

export function eventId(seq: number): string {
  return `evt-${seq}`;
}

function startFrame(event: EventRecord, run: string): OpFrame {
  return {
    type: "start",
    id: event.request ?? eventId(event.seq),
    seq: event.seq,
    run,
    model: event.object === tshObject ? noModel : nameOf(event.object, "model/"),
    ...(event.queued === true ? { queued: true } : {}),
  };
}

function startedFrame(event: EventRecord, run: string): StartedFrame {
  const { seq, object } = event;
  const model = object === undefined ? {} : { model: nameOf(object, "model/") };
  return { type: "started", id: eventId(seq), seq, run, ...model };
}

function toolFrame(event: EventRecord, run: string): OpFrame {
  const { seq } = event;
  const id = event.call ?? eventId(seq);
  const name = nameOf(event.object, "tool/");
  if (event.type === "tool.call") {
    // With `record=digest` the arguments are not in the log, so no frame can have them.
    const args = event.args ?? { args_digest: event.args_digest ?? null };
    return { type: "tool_call", id, seq, run, name, args };
  }
  return {
    type: "tool_result",
    id,
    seq,
    run,
    name,
    status: event.status === "ok" ? "ok" : "error",
    ...(event.code === undefined ? {} : { code: event.code }),
    content: event.content ?? "",
    truncated: event.truncated === true,
  };
}

function nameOf(object: string | undefined, prefix: string): string {
  return object?.startsWith(prefix) ? object.slice(prefix.length) : (object ?? "");
}
