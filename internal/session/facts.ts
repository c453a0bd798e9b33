// What a session's records add up to: which requests it knows, which runs and calls are open, how
// the last run ended. The same fold serves validation on open and the live session. No I/O.

import type { Code } from "../abi/mod.ts";
import type { RunStatus } from "../interaction/mod.ts";
import { type Entry, recordFormat, type StoredRecord } from "../session-log/mod.ts";
import { unansweredEntry } from "./approval-records.ts";
import { sessionRequestsMax } from "./bounds.ts";

export interface RequestFact {
  readonly run: string;
  readonly digest: string;
  /** Sequence number of its request.accepted. */
  readonly seq: number;
}

interface OpenRun {
  readonly request: string;
  /** Open calls by id, with the object of the tool. */
  readonly calls: Map<string, string>;
  /** Those of them that wait for approval. */
  readonly waiting: Set<string>;
}

export interface LastRun {
  readonly run: string;
  readonly status: RunStatus;
  readonly seq: number;
}

/** The first record of every log. */
export const openingEntries: readonly Entry[] = [
  { event: { type: "session.open", format: recordFormat } },
];

export class SessionFacts {
  readonly requests = new Map<string, RequestFact>();
  readonly open = new Map<string, OpenRun>();
  last: LastRun | undefined;
  updated: string | undefined;
  cwd: string | undefined;
  /** The newest text of the assistant, whose pieces are messages of one run. */
  latest: string | undefined;
  #latestRun: string | undefined;

  add({ event, message }: StoredRecord): void {
    this.updated = event.ts;
    const { run } = event;
    if (run === undefined) return;
    switch (event.type) {
      case "request.accepted":
        this.#accept(event.request ?? "", { run, digest: event.digest ?? "", seq: event.seq });
        this.cwd = event.workspace ?? event.cwd ?? this.cwd;
        break;
      case "message":
        if (event.role === "assistant") this.#say(run, message?.content[0]?.text ?? "");
        break;
      case "tool.call":
        this.open.get(run)?.calls.set(event.call ?? "", event.object ?? "");
        break;
      case "tool.result":
        this.open.get(run)?.calls.delete(event.call ?? "");
        break;
      case "approval.request":
        this.open.get(run)?.waiting.add(event.call ?? "");
        break;
      case "approval.result":
        this.open.get(run)?.waiting.delete(event.call ?? "");
        break;
      case "run.done":
        this.open.delete(run);
        this.last = { run, status: event.status as RunStatus, seq: event.seq };
        break;
      default:
    }
  }

  #say(run: string, text: string): void {
    this.latest = run === this.#latestRun ? `${this.latest ?? ""}${text}` : text;
    this.#latestRun = run;
  }

  #accept(request: string, fact: RequestFact): void {
    this.requests.set(request, fact);
    this.open.set(fact.run, { request, calls: new Map(), waiting: new Set() });
    for (const [oldest, { run }] of this.requests) {
      if (this.requests.size <= sessionRequestsMax) break;
      if (this.open.has(run)) break;
      this.requests.delete(oldest);
    }
  }

  /**
   * One error result for every open call of a run, so that each call has exactly one; before it the
   * end of its approval, if it waits for one.
   */
  closeCalls(run: string, code: Code, content: string): Entry[] {
    const open = this.open.get(run);
    return [...(open?.calls ?? [])].flatMap(([call, object]) => {
      const about = { run, object, call };
      const unanswered = open?.waiting.has(call) ? [unansweredEntry(about, code)] : [];
      const status = "error";
      const result = { type: "tool.result", ...about, status, code, content, truncated: false };
      return [...unanswered, { event: result } as Entry];
    });
  }

  /** What recovery appends: open runs end as interrupted, and nothing runs again on a guess. */
  recovery(): Entry[] {
    return [...this.open.keys()].flatMap((run) => [
      ...this.closeCalls(run, "interrupted", "the call was cut by a stop of its host"),
      { event: { type: "run.done", run, status: "interrupted", code: "interrupted" } } as Entry,
    ]);
  }
}
