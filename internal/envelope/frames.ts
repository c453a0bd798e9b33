// The two sides of sdk-envelope-v1 as types: the invocation that a step reads, and the frames that
// it may print. A step never prints an event id: the host gives those out, and `run` is only an echo.

export const invocationSchema = "cortexfs.agent-invocation/v1";

/** What the host made of the call that the step before yielded. */
export interface Observation {
  readonly tool_call_id: string;
  readonly name: string;
  readonly status: "ok" | "error";
  readonly content: string;
  readonly truncated: boolean;
}

export interface Invocation {
  readonly schema: typeof invocationSchema;
  readonly run: string;
  /** Counts from 0. At 0 there is no observation, later there is one. */
  readonly step: number;
  readonly input: string;
  /** Text of a JSON array of the session's earlier messages. */
  readonly history_messages: string;
  readonly tool_context: string;
  readonly observation: Observation | null;
}

export interface TextPart {
  readonly type: "text";
  readonly text: string;
}

/** `run` may be left out; when it is there it must be the run of the invocation. */
export type SpokenFrame =
  | { readonly type: "delta"; readonly run?: string; readonly text: string }
  | { readonly type: "reasoning_delta"; readonly run?: string; readonly text: string }
  | {
      readonly type: "message";
      readonly run?: string;
      readonly role: "assistant";
      readonly content: readonly TextPart[];
    }
  | {
      readonly type: "usage";
      readonly run?: string;
      readonly input_tokens: number;
      readonly output_tokens: number;
    };

export interface CallFrame {
  readonly type: "tool_call";
  readonly run?: string;
  /** The call's id, the agent's own, unused in the run so far. */
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export type StepFrame = SpokenFrame | CallFrame;
