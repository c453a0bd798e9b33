// The op requests and frames of an agent socket, as neutral types. The codec beside this file turns
// lines into these and back; nothing behind it knows a wire version.

import type { Code } from "../abi/mod.ts";

export type Scope =
  | { readonly kind: "private" }
  | { readonly kind: "shared"; readonly space: string }
  | { readonly kind: "temp" };

export interface SendRequest {
  readonly op: "send";
  readonly id: string;
  readonly session: string;
  readonly scope: Scope;
  readonly input: string;
  /** A path in the agent's view; undefined means the default of the launch. */
  readonly cwd: string | undefined;
  /** An absolute folder of the host that becomes /workspace. */
  readonly workspace: string | undefined;
}

export interface ResumeRequest {
  readonly op: "resume";
  readonly session: string;
  readonly scope: Scope;
  /** Exclusive cursor: an `id` or `seq` of an earlier frame. Undefined replays all. */
  readonly after: string | undefined;
}

export interface StatusRequest {
  readonly op: "status";
  readonly session: string;
  readonly scope: Scope;
}

export interface CancelRequest {
  readonly op: "cancel";
  /** The run's id. */
  readonly id: string;
}

export interface PingRequest {
  readonly op: "ping";
}

export type OpRequest = SendRequest | ResumeRequest | StatusRequest | CancelRequest | PingRequest;

export type RunStatus = "ok" | "error" | "cancelled" | "interrupted";

/** Frames that stand for a durable record carry its `seq`; replay sends the same bytes again. */
export type OpFrame =
  | { type: "start"; id: string; seq?: number; run: string; model: string; queued?: boolean }
  | { type: "delta"; id: string; run: string; text: string }
  | { type: "reasoning_delta"; id: string; run: string; text: string }
  | {
      type: "message";
      id: string;
      seq?: number;
      run: string;
      role: "user" | "assistant";
      content: readonly { type: "text"; text: string }[];
    }
  | { type: "tool_call"; id: string; seq?: number; run: string; name: string; args: unknown }
  | {
      type: "tool_result";
      id: string;
      seq?: number;
      run: string;
      name: string;
      status: "ok" | "error";
      code?: Code;
      content: string;
      truncated: boolean;
    }
  | { type: "tool_delta"; id: string; run: string; text: string }
  | {
      type: "usage";
      id: string;
      seq?: number;
      run: string;
      input_tokens: number;
      output_tokens: number;
    }
  | {
      type: "status";
      id: string;
      session: string;
      status: "active" | "idle" | "done" | "error";
      phase: string;
      run: string | null;
      step: number;
      model: string | null;
      updated_at: string;
    }
  | { type: "error"; id: string; seq?: number; run?: string; code: Code; message: string }
  | { type: "done"; id: string; seq?: number; run?: string; status: RunStatus; code?: Code }
  | { type: "pong"; id: string };
