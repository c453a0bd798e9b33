// A model server on loopback for tests, the demonstration and benchmarks: the OpenAI-compatible
// routes, driven by the debug/script directives or by the fixed story, with the faults of real
// gateways on request. It records what it was asked. It never listens beyond loopback.

import { type Code, isCode } from "../../internal/abi/mod.ts";
import { type ModelEvent, type ScriptEvent, scriptStep } from "../../internal/model/mod.ts";
import { type ChatBody, ChunkWriter, messagesOf, wholeAnswer } from "./chat.ts";
import { storyStep } from "./story.ts";

/** Requests kept for assertions; older ones are forgotten. */
const recordedRequestsMax = 2000;

/** What happens to one request instead of, or on the way of, its answer. */
export type Fault =
  | {
      readonly kind: "status";
      readonly status: number;
      readonly body?: string;
      readonly retryAfter?: string;
    }
  /** Answers 401 with the request's own Authorization header and URL in the message. */
  | { readonly kind: "key-echo" }
  /** Ends after so many chunks, in the middle of a line. */
  | { readonly kind: "cut"; readonly after: number }
  /** Sends lines that are no JSON. */
  | { readonly kind: "garbage" }
  /** A well-formed error object inside a stream that began with 200. */
  | { readonly kind: "error-chunk"; readonly after: number; readonly code: number }
  /** A whole answer on a connection that stays open after it. */
  | { readonly kind: "linger" }
  /** Never answers, until the client goes. */
  | { readonly kind: "hang" }
  /** Waits so long before each chunk. */
  | { readonly kind: "drip"; readonly ms: number };

export interface ModelServerOptions {
  readonly mode: "script" | "story";
  /** 0 lets the system choose. */
  readonly port?: number;
  /** When set, requests must carry it as bearer token. */
  readonly key?: string;
  readonly emptyNames?: boolean;
  readonly fragmentChars?: number;
  /** Milliseconds before each chunk. */
  readonly dripMs?: number;
  /** No delay of any kind and no recorded bodies. */
  readonly instant?: boolean;
  /** Every call gets this id, as servers that restart their counter do. */
  readonly callId?: string;
  /** Tokens to report when the script reports none. */
  readonly usage?: { readonly input: number; readonly output: number };
  /** The tool that the story's third message tries. */
  readonly denied?: string;
}

export interface RecordedRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ChatBody;
}

export interface ModelServer {
  /** `http://127.0.0.1:PORT/v1` */
  readonly baseUrl: string;
  readonly requests: RecordedRequest[];
  /** Completions asked for, recorded or not. */
  count(): number;
  /** Faults of the coming requests, one each, in order. */
  inject(...faults: readonly Fault[]): void;
  /** Resolves when a client has left a request whose answer was not finished. */
  abandoned(): Promise<void>;
  stop(): Promise<void>;
}

export function startModelServer(options: ModelServerOptions): ModelServer {
  const requests: RecordedRequest[] = [];
  const faults: Fault[] = [];
  const left = Promise.withResolvers<void>();
  let count = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: options.port ?? 0,
    idleTimeout: 0,
    async fetch(request) {
      const path = new URL(request.url).pathname;
      if (path === "/v1/models") return Response.json(modelList());
      if (path !== "/v1/chat/completions" || request.method !== "POST")
        return failure(404, "no such route");
      count += 1;
      const body = (await request.json()) as ChatBody;
      if (!options.instant) record(requests, path, request, body);
      request.signal.addEventListener("abort", () => left.resolve());
      return answer(request, body, options, faults.shift());
    },
  });
  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    requests,
    count: () => count,
    inject: (...more) => void faults.push(...more),
    abandoned: () => left.promise,
    stop: () => server.stop(true),
  };
}

function modelList() {
  return { object: "list", data: [{ id: "test-model", object: "model", owned_by: "test" }] };
}

function record(all: RecordedRequest[], path: string, request: Request, body: ChatBody): void {
  all.push({ path, headers: Object.fromEntries(request.headers), body });
  if (all.length > recordedRequestsMax) all.shift();
}

function failure(status: number, message: string, headers: Record<string, string> = {}): Response {
  return Response.json({ error: { message, type: "error", code: status } }, { status, headers });
}

async function answer(
  request: Request,
  body: ChatBody,
  options: ModelServerOptions,
  fault: Fault | undefined,
): Promise<Response> {
  const authorization = request.headers.get("authorization") ?? "";
  if (fault?.kind === "key-echo") {
    return failure(
      401,
      `bad header Authorization: ${authorization} for ${request.url}?key=${authorization.slice(7)}`,
    );
  }
  if (options.key !== undefined && authorization !== `Bearer ${options.key}`) {
    return failure(401, `incorrect API key provided: ${authorization.replace("Bearer ", "")}`);
  }
  if (fault?.kind === "status") {
    const headers = fault.retryAfter === undefined ? {} : { "retry-after": fault.retryAfter };
    if (fault.body === undefined) return failure(fault.status, "injected", headers);
    return new Response(fault.body, { status: fault.status, headers });
  }
  if (fault?.kind === "hang") await new Promise(() => {});
  try {
    return await completed(body, options, fault);
  } catch (thrown) {
    const code = (thrown as { code?: unknown }).code;
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return failure(statusOf(typeof code === "string" && isCode(code) ? code : "EIO"), message);
  }
}

async function completed(
  body: ChatBody,
  options: ModelServerOptions,
  fault: Fault | undefined,
): Promise<Response> {
  const events = eventsOf(body, options);
  if (body.stream !== true) {
    const all: ModelEvent[] = [];
    for await (const event of events) all.push(event);
    return Response.json(wholeAnswer(body.model, all));
  }
  const lines = dataLines(events, body, options, fault);
  // The first line is taken before the status is sent, so that an early error is a status.
  const first = await lines.next();
  const encoder = new TextEncoder();
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      if (!first.done) controller.enqueue(encoder.encode(first.value));
    },
    async pull(controller) {
      try {
        const { done, value } = await lines.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      } catch (thrown) {
        controller.error(thrown);
      }
    },
    async cancel() {
      await lines.return(undefined);
    },
  });
  return new Response(stream, { headers: { "content-type": "text/event-stream" } });
}

async function* eventsOf(body: ChatBody, options: ModelServerOptions): AsyncIterable<ModelEvent> {
  const messages = messagesOf(body);
  const offered = (body.tools ?? []).map((tool) => tool.function.name);
  const steps: Iterable<ScriptEvent> =
    options.mode === "script"
      ? scriptStep(messages)
      : storyStep(messages, { offered, denied: options.denied ?? "fs.write" });
  let reported = false;
  for (const event of steps) {
    if (event.type === "delay") {
      if (!options.instant) await Bun.sleep(event.ms);
    } else if (event.type === "error") {
      throw Object.assign(new Error(event.text), { code: event.code });
    } else if (event.type === "call" && options.callId !== undefined) {
      yield { ...event, id: options.callId };
    } else {
      reported ||= event.type === "usage";
      yield event;
    }
  }
  const { usage } = options;
  if (!reported && usage) {
    yield { type: "usage", inputTokens: usage.input, outputTokens: usage.output };
  }
}

async function* dataLines(
  events: AsyncIterable<ModelEvent>,
  body: ChatBody,
  options: ModelServerOptions,
  fault: Fault | undefined,
): AsyncGenerator<string, void> {
  const writer = new ChunkWriter(body.model, {
    emptyNames: options.emptyNames ?? false,
    fragmentChars: options.fragmentChars ?? (options.instant ? 4096 : 24),
  });
  const pauseMs = fault?.kind === "drip" ? fault.ms : (options.dripMs ?? 0);
  const limit = fault?.kind === "cut" || fault?.kind === "error-chunk" ? fault.after : Infinity;
  let sent = 0;
  if (fault?.kind === "garbage") yield "data: {not json\n\n";
  for await (const event of events) {
    for (const chunk of writer.chunks(event)) {
      if (sent >= limit) {
        if (fault?.kind === "error-chunk") yield errorChunk(fault.code);
        if (fault?.kind === "cut") yield `data: ${JSON.stringify(chunk).slice(0, 20)}`;
        return;
      }
      if (pauseMs > 0 && !options.instant) await Bun.sleep(pauseMs);
      yield `data: ${JSON.stringify(chunk)}\n\n`;
      sent += 1;
    }
  }
  yield "data: [DONE]\n\n";
  if (fault?.kind === "linger") await new Promise(() => {});
}

function errorChunk(code: number): string {
  return `data: ${JSON.stringify({ error: { message: "overloaded", type: "server_error", code } })}\n\n`;
}

/** The status a gateway would give for what the script asked to fail with. */
function statusOf(code: Code): number {
  const statuses: Partial<Record<Code, number>> = {
    EACCES: 401,
    ENOENT: 404,
    EINVAL: 400,
    EMSGSIZE: 413,
    ETIMEDOUT: 408,
    EHOSTDOWN: 503,
    busy: 429,
  };
  return statuses[code] ?? 500;
}
