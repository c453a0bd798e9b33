// The handle that an executor gets of its run. Everything it records is of this run; once the run
// is over, by its own end or by a cancel, every record is refused with ECANCELED.

import { createHash } from "node:crypto";
import { type Code, CodedError, frameTextUnitsMax, observationBytesMax } from "../abi/mod.ts";
import type { OpFrame, RunRequest, Scope } from "../interaction/mod.ts";
import type { Entry, EventRecord } from "../session-log/mod.ts";
import type { ApprovalDecision } from "./approval.ts";
import { decisionEntry, requestEntry } from "./approval-records.ts";
import { Approver } from "./approver.ts";
import { observe, pieces } from "./observation.ts";
import type { ApprovalQuestion, HistoryItem, RunContext, ToolOutcome } from "./types.ts";
import { placesOf } from "./words.ts";

/** What a run needs of its session. */
export interface RunHost {
  readonly agent: string;
  readonly session: string;
  readonly scope: Scope;
  readonly folder: string | undefined;
  readonly record: "arguments" | "digest";
  readonly approvalTimeoutMs: number;
  readonly now: () => Date;
  append(entries: readonly Entry[]): Promise<readonly EventRecord[]>;
  keepChunk(bytes: Uint8Array): Promise<{ readonly sha256: string; readonly bytes: number }>;
  readKept(name: string, bytesMax: number): string | undefined;
  keep(name: string, text: string): void;
  isOpenCall(run: string, call: string): boolean;
  history(run: string): readonly HistoryItem[];
  live(run: string, text: string, frame: (id: string) => OpFrame): void;
}

export class LiveRun implements RunContext {
  readonly run: string;
  readonly input: string;
  readonly words: readonly string[] | undefined;
  readonly cwd: string | undefined;
  readonly workspace: string | undefined;
  /** Who sent the input. */
  readonly approver: Approver;
  readonly #host: RunHost;
  readonly #abort = new AbortController();
  readonly #pending = new Set<Promise<unknown>>();
  /** Calls whose result is on its way to the disk, so that a second one is refused. */
  readonly #answered = new Set<string>();
  #over = false;
  at = { phase: "accepted", step: 0, model: null as string | null };

  constructor(run: string, request: RunRequest, host: RunHost) {
    this.run = run;
    this.input = request.op === "send" ? request.input : "";
    this.words = request.op === "tsh" ? request.args : undefined;
    const { cwd, workspace } = placesOf(request);
    this.cwd = cwd;
    this.workspace = workspace;
    this.approver = new Approver(run);
    this.#host = host;
  }

  get agent(): string {
    return this.#host.agent;
  }

  get session(): string {
    return this.#host.session;
  }

  get scope(): Scope {
    return this.#host.scope;
  }

  get sessionFolder(): string | undefined {
    return this.#host.folder;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  abort(): void {
    this.approver.end();
    this.#abort.abort(new CodedError("ECANCELED", `run "${this.run}" was cancelled`));
  }

  /** Refuses every later record and waits for those that are on their way. */
  async end(): Promise<void> {
    this.#over = true;
    this.approver.end();
    await Promise.allSettled(this.#pending);
  }

  history(): readonly HistoryItem[] {
    return this.#host.history(this.run);
  }

  readKept(name: string, bytesMax: number): string | undefined {
    return this.#host.readKept(name, bytesMax);
  }

  keep(name: string, text: string): void {
    this.#refuseWhenOver();
    this.#host.keep(name, text);
  }

  async toolCall(name: string, args: unknown, own?: string): Promise<string> {
    const recorded = this.#host.record === "arguments" ? { args } : { args_digest: digestOf(args) };
    const agentCall = own === undefined ? {} : { agent_call: own };
    const event = { type: "tool.call", run: this.run, object: `tool/${name}` } as const;
    const [call] = await this.#record([{ event: { ...event, ...agentCall, ...recorded } }]);
    return call?.call ?? "";
  }

  async toolResult(
    call: string,
    name: string,
    outcome: ToolOutcome,
  ): Promise<{ readonly content: string; readonly truncated: boolean }> {
    this.#refuseWhenOver();
    if (!this.#host.isOpenCall(this.run, call) || this.#answered.has(call)) {
      throw new CodedError("EINVAL", `call "${call}" is not open in run "${this.run}"`);
    }
    this.#answered.add(call);
    const seen = observe(outcome.output, observationBytesMax);
    const truncated = seen.truncated || outcome.dropped > 0;
    const ref = await this.#keep(seen.whole, outcome.dropped);
    for (const bytes of outcome.kept ?? []) await this.#keep(bytes, 0);
    const event = {
      type: "tool.result" as const,
      run: this.run,
      object: `tool/${name}`,
      call,
      status: outcome.status,
      ...(outcome.code === undefined ? {} : { code: outcome.code }),
      content: seen.content,
      truncated,
      ...ref,
    };
    try {
      await this.#record([{ event }]);
    } catch (error) {
      this.#answered.delete(call);
      throw error;
    }
    return { content: seen.content, truncated };
  }

  async approval(call: string, question: ApprovalQuestion): Promise<ApprovalDecision> {
    this.#refuseWhenOver();
    if (!this.#host.isOpenCall(this.run, call)) {
      throw new CodedError("EINVAL", `call "${call}" is not open in run "${this.run}"`);
    }
    const { approvalTimeoutMs, now } = this.#host;
    const expires_at = new Date(now().getTime() + approvalTimeoutMs).toISOString();
    const { run } = this;
    const frame = { type: "approval_request", id: call, run, ...question, expires_at } as const;
    const before = this.at;
    this.at = { ...before, phase: "approval" };
    // It waits before it is published, so that whoever reads the record finds what to show.
    const decided = this.approver.ask(frame, approvalTimeoutMs);
    try {
      await this.#record([requestEntry(frame)]);
      const decision = await decided;
      if (decision.kind === "cancelled") this.signal.throwIfAborted();
      await this.#record([decisionEntry(frame, decision)]);
      return decision;
    } catch (error) {
      this.approver.malformed("it could not be recorded");
      throw error;
    } finally {
      this.at = before;
    }
  }

  async message(text: string): Promise<void> {
    const event = { type: "message" as const, run: this.run, role: "assistant" as const };
    await this.#record(pieces(text, frameTextUnitsMax).map((part) => ({ event, text: part })));
  }

  async usage(model: string | undefined, inputTokens: number, outputTokens: number): Promise<void> {
    const tokens = { input_tokens: inputTokens, output_tokens: outputTokens };
    const object = model === undefined ? `agent/${this.agent}` : `model/${model}`;
    await this.#record([{ event: { type: "usage", run: this.run, object, ...tokens } }]);
  }

  async agentUpdate(control: string, content: string): Promise<void> {
    const object = `agent/${this.agent}.d/${control}`;
    const bytes = Buffer.byteLength(content);
    const content_digest = createHash("sha256").update(content).digest("hex");
    const event = { type: "agent.update", run: this.run, object, bytes, content_digest } as const;
    await this.#record([{ event }]);
  }

  async note(code: Code, text: string, object: string): Promise<void> {
    await this.#record([
      { event: { type: "error", run: this.run, object, status: "note", code, text } },
    ]);
  }

  delta(text: string): void {
    const { run } = this;
    this.#live(text, (part, id) => ({ type: "delta", id, run, text: part }));
  }

  reasoning(text: string): void {
    const { run } = this;
    this.#live(text, (part, id) => ({ type: "reasoning_delta", id, run, text: part }));
  }

  toolDelta(call: string, text: string): void {
    const { run } = this;
    this.#live(text, (part) => ({ type: "tool_delta", id: call, run, text: part }));
  }

  phase(phase: string, step: number, model: string | null): void {
    this.at = { phase, step, model };
  }

  #live(text: string, frame: (part: string, id: string) => OpFrame): void {
    if (this.#over || text.length === 0) return;
    for (const part of pieces(text, frameTextUnitsMax)) {
      this.#host.live(this.run, part, (id) => frame(part, id));
    }
  }

  #refuseWhenOver(): void {
    if (this.#over) throw new CodedError("ECANCELED", `run "${this.run}" is over`);
  }

  async #record(entries: readonly Entry[]): Promise<readonly EventRecord[]> {
    this.#refuseWhenOver();
    const appended = this.#host.append(entries);
    this.#pending.add(appended);
    try {
      const records = await appended;
      // Recorded, but over by now: whoever ends the run closes the call, and nothing may start.
      this.#refuseWhenOver();
      return records;
    } finally {
      this.#pending.delete(appended);
    }
  }

  /** Output that cannot be kept (a full disk) must not lose the result itself. */
  async #keep(whole: Uint8Array | undefined, dropped: number): Promise<object> {
    if (whole === undefined) return {};
    try {
      return { content_ref: { ...(await this.#host.keepChunk(whole)), dropped } };
    } catch {
      return { content_lost: whole.length };
    }
  }
}

export function digestOf(value: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify(value) ?? "null")
    .digest("hex");
}
