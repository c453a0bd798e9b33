// The requests, replies and streamed frames of a run's capability socket, as types. Optional members
// are absent, never null; a request's unknown members, an old `token` among them, are not here.

import type { Code, UpdatableControl } from "../abi/mod.ts";

export interface UpdateRequest {
  readonly op: "agent.update";
  readonly request_id: string;
  readonly agent: string;
  readonly session: string;
  readonly run: string;
  readonly control: UpdatableControl;
  readonly content: string;
}

export interface AuthorizeRequest {
  readonly op: "tool.authorize";
  readonly request_id: string;
  readonly name: string;
  /** The input object of a native call, or the words of a command line. */
  readonly args: Readonly<Record<string, unknown>> | readonly string[];
}

/** The host makes the call itself, where the tool is: what a program cannot run in its own sandbox. */
export interface CallRequest {
  readonly op: "tool.call";
  readonly request_id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export interface CallReply {
  readonly status: "ok" | "error";
  readonly code?: Code;
  readonly content: string;
}

export interface ModelPart {
  readonly type: "text";
  readonly text: string;
}

export interface CapabilityMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string | readonly ModelPart[];
}

export interface ModelUseRequest {
  readonly op: "model.use";
  readonly request_id: string;
  /** `provider/model`, or an alias. */
  readonly model: string;
  readonly messages: readonly CapabilityMessage[];
}

/** What is left out is not granted: no tool, no space, no mount, no group, and perm `---`. */
export interface CreateRequest {
  readonly op: "agent.create";
  readonly request_id: string;
  readonly name: string;
  readonly label: string;
  readonly model: readonly string[];
  readonly tools?: readonly string[];
  readonly shared?: Readonly<Record<string, readonly ("read" | "write")[]>>;
  readonly mount?: readonly (readonly [source: string, target: string, access: "ro" | "rw"])[];
  readonly groups?: readonly number[];
  readonly perm?: string;
}

export interface StartRequest {
  readonly op: "agent.start";
  readonly request_id: string;
  readonly agent: string;
  /** Absent means `default`. */
  readonly session?: string;
  /** What the child is asked first; absent starts it and asks nothing. */
  readonly input?: string;
}

export interface StopRequest {
  readonly op: "agent.stop";
  readonly request_id: string;
  readonly agent: string;
  /** Absent means all of the child's sessions. */
  readonly session?: string;
}

export type CapabilityRequest =
  | UpdateRequest
  | AuthorizeRequest
  | CallRequest
  | ModelUseRequest
  | CreateRequest
  | StartRequest
  | StopRequest;

export interface DecisionLayer {
  readonly layer: string;
  readonly allowed: boolean;
  readonly because: string;
  /** File and line, as `agent/coder.d/perm:1`. */
  readonly at?: string;
}

export interface Decision {
  readonly allowed: boolean;
  /** The tool that was decided about, in the view; absent when none was found. */
  readonly path?: string;
  readonly layers: readonly DecisionLayer[];
}

/** It was done. What the reply carries beside its id depends on the request. */
export interface Reply {
  readonly request_id: string;
  readonly ok: true;
  readonly agent?: string;
  readonly session?: string;
  readonly run?: string;
  readonly control?: string;
  readonly decision?: Decision;
  readonly result?: CallReply;
}

/** It was not done. `request_id` is null when the line had no usable one. */
export interface Refusal {
  readonly request_id: string | null;
  readonly ok: false;
  readonly code: Code;
  readonly message: string;
  readonly decision?: Decision;
}

interface Streamed {
  readonly request_id: string;
  readonly id: string;
  readonly run: string;
}

/** What answers a `model.use` that was let in: op frames that also name the request. */
export type StreamFrame =
  | (Streamed & { readonly type: "delta" | "reasoning_delta"; readonly text: string })
  | (Streamed & {
      readonly type: "message";
      readonly role: "assistant";
      readonly content: readonly ModelPart[];
    })
  | (Streamed & {
      readonly type: "usage";
      readonly input_tokens: number;
      readonly output_tokens: number;
    })
  | (Streamed & { readonly type: "error"; readonly code: Code; readonly message: string })
  | (Streamed & {
      readonly type: "done";
      readonly status: "ok" | "error" | "cancelled";
      readonly code?: Code;
    });

export type CapabilityFrame = CapabilityRequest | Reply | Refusal | StreamFrame;
