// What a run asks of a model and what comes back, whatever provider stands behind it.

export type ModelMessage =
  | { readonly role: "system"; readonly text: string }
  | { readonly role: "user"; readonly text: string }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly calls: readonly {
        readonly id: string;
        readonly name: string;
        readonly args: unknown;
      }[];
    }
  | {
      readonly role: "tool";
      readonly call: string;
      readonly name: string;
      readonly status: "ok" | "error";
      readonly content: string;
    };

export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input object. */
  readonly schema: unknown;
}

export interface ModelRequest {
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  readonly signal: AbortSignal;
}

export type ModelEvent =
  | { readonly type: "delta"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  /** `args` undefined: the model's arguments were not a JSON object; `raw` is what it said. */
  | {
      readonly type: "call";
      readonly id: string;
      readonly name: string;
      readonly args: unknown;
      readonly raw: string;
    }
  | { readonly type: "usage"; readonly inputTokens: number; readonly outputTokens: number }
  | { readonly type: "finish" };

/** One model ready to be called. Failures are thrown as CodedError; `retryable` by its code. */
export interface ModelClient {
  readonly name: string;
  /** Context limit in tokens, when known. */
  readonly limit: number | undefined;
  stream(request: ModelRequest): AsyncIterable<ModelEvent>;
}
