// OpenAI-compatible chat through the AI SDK's provider package, called at the provider's own
// interface (`doStream`): the mapping of the wire and of fragmented tool calls is the SDK's; bounds,
// retries, codes and scrubbing are ours. The package is imported at the first call. The key lives
// in this closure and in the request's header, nowhere else; no variable of the environment is read.

import { fail } from "../abi/mod.ts";
import { pause } from "./debug.ts";
import { AttemptFailure, httpFailure, type Subject, streamFailure } from "./failure.ts";
import {
  type CallOptions,
  type ChatModel,
  parseArguments,
  type WireNames,
  wireNames,
  wirePrompt,
  wireTools,
} from "./openai-wire.ts";
import { answerBytesMax, answerIdleMsMax, boundedFetch } from "./transport.ts";
import type { ModelClient, ModelEvent, ModelRequest } from "./types.ts";

/** Attempts of one model call, the first included. After the last its failure is reported. */
export const modelAttemptsMax = 4;

/** Wait before the second attempt, in milliseconds; it doubles with each further one. */
export const backoffMs = 500;

/** Longest wait a server may ask for, in milliseconds. Past it the call fails at once. */
export const retryAfterMsMax = 30_000;

export interface OpenaiOptions {
  /** `provider/model`, as people name it. */
  readonly name: string;
  readonly provider: string;
  /** The model's id on the server. */
  readonly model: string;
  readonly baseUrl: string;
  readonly key: string | undefined;
  readonly limit: number | undefined;
  /** `low medium high xhigh`; undefined leaves it to the server. */
  readonly effort: string | undefined;
  /** Further fields of the request body; they never replace what the call itself sets. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly idleMs?: number;
  readonly bytesMax?: number;
  readonly backoffMs?: number;
}

export function openaiClient(options: OpenaiOptions): ModelClient {
  const subject: Subject = {
    model: options.name,
    provider: options.provider,
    host: new URL(options.baseUrl).host,
    key: options.key,
  };
  let chat: Promise<ChatModel> | undefined;
  const load = () => {
    chat ??= loadChat(options, subject);
    return chat;
  };
  return {
    name: options.name,
    limit: options.limit,
    stream: (request) =>
      withRetries(request, () => attempt(load, options, subject, request), options),
  };
}

async function loadChat(options: OpenaiOptions, subject: Subject): Promise<ChatModel> {
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const provider = createOpenAICompatible({
    name: "provider",
    baseURL: options.baseUrl,
    includeUsage: true,
    ...(options.key === undefined ? {} : { apiKey: options.key }),
    transformRequestBody: (body) => withParameters(body, options.parameters ?? {}),
    fetch: boundedFetch({
      subject,
      idleMs: options.idleMs ?? answerIdleMsMax,
      bytesMax: options.bytesMax ?? answerBytesMax,
    }),
  });
  return provider.chatModel(options.model);
}

function withParameters(
  body: Record<string, unknown>,
  parameters: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const added = Object.entries(parameters).filter(([name]) => body[name] === undefined);
  return { ...body, ...Object.fromEntries(added) };
}

/** Tries again only while nothing of an answer was handed on. */
async function* withRetries(
  request: ModelRequest,
  once: () => AsyncIterable<ModelEvent>,
  options: OpenaiOptions,
): AsyncIterable<ModelEvent> {
  for (let number = 1; ; number += 1) {
    let spoke = false;
    try {
      for await (const event of once()) {
        spoke = true;
        yield event;
      }
      return;
    } catch (thrown) {
      if (request.signal.aborted) fail("ECANCELED", "the model call was cancelled");
      if (!(thrown instanceof AttemptFailure)) throw thrown;
      const wait = spoke ? undefined : retryWait(thrown, number, options.backoffMs ?? backoffMs);
      if (wait === undefined) throw thrown.error;
      await pause(wait, request.signal);
    }
  }
}

/** Milliseconds until the next attempt; undefined when there is none. Spread, so that many callers part. */
function retryWait(failure: AttemptFailure, attempts: number, base: number): number | undefined {
  if (!failure.again || attempts >= modelAttemptsMax) return undefined;
  const asked = failure.retryAfterMs ?? 0;
  if (asked > retryAfterMsMax) return undefined;
  return Math.max(asked, base * 2 ** (attempts - 1) * (0.75 + Math.random() / 2));
}

async function* attempt(
  load: () => Promise<ChatModel>,
  options: OpenaiOptions,
  subject: Subject,
  request: ModelRequest,
): AsyncIterable<ModelEvent> {
  const names = wireNames(request.tools);
  // Ends the connection also when the reader stops early, without touching the caller's signal.
  const ending = new AbortController();
  const abortSignal = AbortSignal.any([request.signal, ending.signal]);
  let spoke = false;
  try {
    const chat = await load();
    const { stream } = await chat.doStream(callOptions(options, request, names, abortSignal));
    // Calls wait for the end of the answer: the SDK closes a call that a cut stream left half.
    const calls: ModelEvent[] = [];
    for await (const part of stream as unknown as AsyncIterable<StreamPart>) {
      if (part.type === "finish") yield* calls;
      for (const event of translate(part, names, subject, spoke)) {
        if (event.type === "call") {
          calls.push(event);
          continue;
        }
        spoke = true;
        yield event;
      }
    }
  } catch (thrown) {
    if (thrown instanceof AttemptFailure) throw thrown;
    const cause = (thrown as { cause?: unknown } | null)?.cause;
    if (cause instanceof AttemptFailure) throw cause;
    throw streamFailure(subject, thrown instanceof Error ? thrown.message : String(thrown), spoke);
  } finally {
    ending.abort();
  }
}

type StreamPart =
  Awaited<ReturnType<ChatModel["doStream"]>>["stream"] extends ReadableStream<infer Part>
    ? Part
    : never;

function callOptions(
  options: OpenaiOptions,
  request: ModelRequest,
  names: WireNames,
  abortSignal: AbortSignal,
): CallOptions {
  const tools = wireTools(request.tools, names);
  return {
    prompt: wirePrompt(request.messages, names),
    abortSignal,
    ...(tools.length === 0 ? {} : { tools, toolChoice: { type: "auto" } }),
    ...(options.effort === undefined
      ? {}
      : { providerOptions: { provider: { reasoningEffort: options.effort } } }),
  };
}

function* translate(
  part: StreamPart,
  names: WireNames,
  subject: Subject,
  spoke: boolean,
): Iterable<ModelEvent> {
  switch (part.type) {
    case "text-delta":
      if (part.delta !== "") yield { type: "delta", text: part.delta };
      return;
    case "reasoning-delta":
      if (part.delta !== "") yield { type: "reasoning", text: part.delta };
      return;
    case "tool-call":
      yield {
        type: "call",
        id: part.toolCallId,
        name: names.fromWire(part.toolName),
        args: parseArguments(part.input),
        raw: part.input,
      };
      return;
    case "error":
      throw streamError(part.error, subject, spoke);
    case "finish": {
      const { inputTokens, outputTokens } = part.usage;
      if (inputTokens.total !== undefined || outputTokens.total !== undefined) {
        yield {
          type: "usage",
          inputTokens: inputTokens.total ?? 0,
          outputTokens: outputTokens.total ?? 0,
        };
      }
      yield { type: "finish" };
      return;
    }
  }
}

/** An error that arrives inside the stream: the server's own object, or the SDK's complaint. */
function streamError(error: unknown, subject: Subject, spoke: boolean): AttemptFailure {
  const cause = (error as { cause?: unknown } | null)?.cause;
  if (error instanceof AttemptFailure) return error;
  if (cause instanceof AttemptFailure) return cause;
  if (error instanceof Error) return streamFailure(subject, sdkReason(error), spoke);
  const status = Number((error as { code?: unknown } | null)?.code);
  const body = JSON.stringify({ error });
  if (!spoke && status >= 400 && status < 600) return httpFailure(subject, status, body);
  const message = (error as { message?: unknown } | null)?.message;
  return streamFailure(subject, typeof message === "string" ? message : body, spoke);
}

/** The SDK's errors quote the bytes they could not read; the first line says enough. */
function sdkReason(error: Error): string {
  if (error.name === "AI_JSONParseError") return "a line of it is not JSON";
  if (error.name === "AI_TypeValidationError") return "a line of it is not a chat chunk";
  return error.message.split("\n")[0] ?? "unknown";
}
