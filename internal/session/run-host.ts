// What a session lends to its runs: its log, its readers and what it knows.

import type { SessionLog } from "../session-log/mod.ts";
import type { SessionFacts } from "./facts.ts";
import { eventId } from "./frames.ts";
import type { HistoryTail } from "./history.ts";
import type { Readers } from "./readers.ts";
import type { RunHost } from "./run-context.ts";
import type { SessionParts } from "./session-parts.ts";

export interface RunHostParts {
  readonly parts: Pick<SessionParts, "placement" | "record" | "approvalTimeoutMs" | "now">;
  readonly facts: SessionFacts;
  readonly history: HistoryTail;
  readonly readers: Readers;
  readonly log: SessionLog;
}

export function runHost({
  parts: { placement, record, approvalTimeoutMs, now },
  facts,
  history,
  readers,
  log,
}: RunHostParts): RunHost {
  const { agent, session, scope } = placement;
  return {
    agent,
    session,
    scope,
    folder: log.folder,
    record,
    approvalTimeoutMs,
    now,
    append: (entries) => log.appendDurable({ entries }),
    keepChunk: (bytes) => log.keepChunk(bytes),
    readKept: (name, bytesMax) => log.readKept(name, bytesMax),
    keep: (name, text) => log.keep(name, text),
    isOpenCall: (run, call) => facts.open.get(run)?.calls.has(call) ?? false,
    history: (run) => history.before(run),
    live: (run, text, frame) => readers.live(log.head, run, text, frame(eventId(log.head))),
  };
}
