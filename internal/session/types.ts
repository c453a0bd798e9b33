// What the session service asks of a run and offers to it. `run` implements RunExecutor; `daemon`
// puts the two together.

import type { Code } from "../abi/mod.ts";
import type { Scope } from "../interaction/mod.ts";
import type { ApprovalDecision } from "./approval.ts";

/** One earlier thing of the session, as the next prompt needs it; oldest first. */
export type HistoryItem =
  | { readonly kind: "user"; readonly run: string; readonly text: string }
  | { readonly kind: "assistant"; readonly run: string; readonly text: string }
  | {
      readonly kind: "tool_call";
      readonly run: string;
      readonly call: string;
      readonly name: string;
      readonly args: unknown;
    }
  | {
      readonly kind: "tool_result";
      readonly run: string;
      readonly call: string;
      readonly name: string;
      readonly status: "ok" | "error";
      readonly content: string;
    };

export interface ToolOutcome {
  readonly status: "ok" | "error";
  readonly code?: Code;
  /** The whole output as text; the session cuts the observation and keeps the rest by hash. */
  readonly output: string;
  /** Bytes that the launcher dropped from the middle, beyond `toolOutputBytesMax`. */
  readonly dropped: number;
  /** What the output names by its SHA-256, to be kept beside the session. */
  readonly kept?: readonly Uint8Array[];
}

/** A call as it would be run, for a person to judge. */
export interface ApprovalQuestion {
  readonly name: string;
  readonly args: unknown;
  /** In the agent's view. */
  readonly cwd: string;
  /** Of all that would be run; an answer may repeat it. */
  readonly digest: string;
}

/** The handle of one run. All its records are of this run; after a cancel every record is refused. */
export interface RunContext {
  readonly run: string;
  readonly agent: string;
  readonly session: string;
  readonly scope: Scope;
  /** Empty for words. */
  readonly input: string;
  /** What the agent's tool shell is asked, without a model; undefined for an input. */
  readonly words: readonly string[] | undefined;
  readonly cwd: string | undefined;
  readonly workspace: string | undefined;
  /** Host path of the session's folder; undefined for a temp session. */
  readonly sessionFolder: string | undefined;
  readonly signal: AbortSignal;
  /** What came before this run's input, within `historyBytesMax`; whole turns, oldest dropped. */
  history(): readonly HistoryItem[];
  /** What an earlier run kept under this name; EMSGSIZE past `bytesMax`. */
  readKept(name: string, bytesMax: number): string | undefined;
  /**
   * Keeps a text for the session's next runs: in its folder, or in memory for a temp session. It
   * outlives the process but is not synced. Throws when it cannot be written.
   */
  keep(name: string, text: string): void;
  /**
   * Durable before it resolves. The host's call id, `call-<seq>`; `own` is what an executable agent
   * calls it, which is recorded and means nothing to the host.
   */
  toolCall(name: string, args: unknown, own?: string): Promise<string>;
  /**
   * Durable before it resolves; exactly once a call. Gives back the observation: at most
   * `observationBytesMax`, cut on a character boundary.
   */
  toolResult(
    call: string,
    name: string,
    outcome: ToolOutcome,
  ): Promise<{ readonly content: string; readonly truncated: boolean }>;
  /**
   * Asks who sent the run's input about an open call, and waits: request and decision are durable
   * before it resolves. One call at a time. ECANCELED when the run ends meanwhile.
   */
  approval(call: string, question: ApprovalQuestion): Promise<ApprovalDecision>;
  /** The assistant's text of this run; durable before it resolves. */
  message(text: string): Promise<void>;
  /** `model` undefined: what an executable agent says of itself. */
  usage(model: string | undefined, inputTokens: number, outputTokens: number): Promise<void>;
  /** The agent is about to replace a prompt control of its own; `content` is kept as a digest. */
  agentUpdate(control: string, content: string): Promise<void>;
  /** A fact worth keeping, e.g. a model candidate that failed. */
  note(code: Code, text: string, object: string): Promise<void>;
  /** Best effort, never recorded. */
  delta(text: string): void;
  reasoning(text: string): void;
  toolDelta(call: string, text: string): void;
  /** Shown by `status`: what the run is at. */
  phase(phase: string, step: number, model: string | null): void;
}

export type RunOutcome =
  | { readonly status: "ok" }
  | { readonly status: "error"; readonly code: Code; readonly message: string };

export interface RunExecutor {
  (context: RunContext): Promise<RunOutcome>;
  /**
   * Told of a run that is about to begin, while its input is being made durable; it may still not
   * come. Records nothing and never throws.
   */
  readonly expect?: (context: RunContext) => void;
}
