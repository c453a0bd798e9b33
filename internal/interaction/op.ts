// The requests and frames of an agent socket, as neutral types. Each wire's codec turns its lines into
// these and back; nothing behind a codec knows a wire version. Their names are those of the op wire.

import type { Code } from "../abi/mod.ts";

export type Scope =
  | { readonly kind: "private" }
  | { readonly kind: "shared"; readonly space: string }
  | { readonly kind: "temp" };

export type JsonObject = { readonly [name: string]: unknown };

/** Where an input came from, as its sender says: a claim, recorded and never an authority. */
export interface Origin {
  readonly transport: string;
  readonly endpoint?: string;
  readonly identity?: string;
  readonly conversation?: string;
  readonly thread?: string;
  readonly metadata?: JsonObject;
}

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
  /** Recorded with the acceptance; no part of what makes two sends the same. */
  readonly origin?: Origin;
  /** What happened outside, in the sender's terms; part of what makes two sends the same. */
  readonly event?: JsonObject;
}

/** Words for the agent's tool shell, as one call of `tsh` without a model. */
export interface TshRequest {
  readonly op: "tsh";
  readonly id: string;
  readonly session: string;
  /** Private on every wire that has it. */
  readonly scope: Scope;
  readonly args: readonly string[];
}

/** What a session runs in its order: an input for the agent, or words for its tool shell. */
export type RunRequest = SendRequest | TshRequest;

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

/** The one answer to an approval request, on the connection that sent the input. */
export interface ApproveRequest {
  readonly op: "approve";
  readonly run: string;
  /** The call's id. */
  readonly id: string;
  readonly decision: "allow_once" | "deny";
  /** Of a deny: what the model is told. */
  readonly reason: string | undefined;
  /** The digest of the request that is answered. */
  readonly digest: string | undefined;
}

/** The session's terminal: it is started if there is none. */
export interface StartRequest {
  readonly op: "start";
  readonly id: string;
  readonly session: string;
  /** A path in the view that the terminal starts in. */
  readonly cwd: string | undefined;
  /** Folders of the host beside the agent's own: "SOURCE TARGET ro|rw". */
  readonly mounts: readonly string[];
  /** Runs in place of the tool shell. */
  readonly command: readonly string[] | undefined;
}

export interface StopRequest {
  readonly op: "stop";
  readonly id: string;
  readonly session: string;
}

/** Which terminals of the agent live. */
export interface PsRequest {
  readonly op: "ps";
}

export interface PingRequest {
  readonly op: "ping";
}

export type OpRequest =
  | SendRequest
  | TshRequest
  | ResumeRequest
  | StatusRequest
  | CancelRequest
  | ApproveRequest
  | StartRequest
  | StopRequest
  | PsRequest
  | PingRequest;

/** A terminal, as it is told of in a `status`. */
export interface TerminalStatus {
  readonly id: string;
  readonly state: "starting" | "ready" | "exited" | "lost";
  /** Of an exited one: 0 to 255, 128 and the number for a signal. */
  readonly status?: number;
  readonly signal?: number;
  /** Host path of the socket that `alias`, the path below the tree, leads to. */
  readonly socket: string;
  readonly alias: string;
  /** Host folder of its files. */
  readonly folder: string;
  readonly cwd: string;
  readonly workspace?: string;
  readonly supervisor: string;
  readonly unit?: string;
  readonly started_at: string;
  readonly ended_at?: string;
}

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
  /** Only for the connection that sent the input; `id` is the call's. */
  | {
      type: "approval_request";
      id: string;
      seq?: number;
      run: string;
      name: string;
      args: unknown;
      cwd: string;
      digest: string;
      expires_at: string;
    }
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
      /** Only in the answer to `start`, `stop` and `ps`. */
      terminal?: TerminalStatus;
    }
  | { type: "error"; id: string; seq?: number; run?: string; code: Code; message: string }
  | { type: "done"; id: string; seq?: number; run?: string; status: RunStatus; code?: Code }
  | { type: "pong"; id: string };

/** The run begins to work. On the op wire `start` stands for this too, so it has no frame there. */
export interface StartedFrame {
  readonly type: "started";
  readonly id: string;
  readonly seq: number;
  readonly run: string;
  readonly model?: string;
}

/** What a session tells its readers, whatever wire they speak. */
export type SessionFrame = OpFrame | StartedFrame;
