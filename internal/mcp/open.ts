// Opens a server: starts its process, agrees on a version, and asks it for its tools and their calls
// through the SDK's client. Time, bounds and errors are ours.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { CodedError, isCoded, productVersion, quoted } from "../abi/mod.ts";
import type { CallResult, ToolDefinition } from "../mcp-tool/mod.ts";
import { pageMsDefault, startMsDefault } from "./bounds.ts";
import { callTool } from "./call.ts";
import { type Conversation, describeFault } from "./conversation.ts";
import { readTools } from "./tools.ts";
import { ServerTransport, wasClosed } from "./transport.ts";
import type { CallOptions, OpenOptions, OpenServer } from "./types.ts";

/**
 * Starts a server and resolves once it has said what it is. When it does not, everything that was
 * started is gone before this throws: ENOENT or EACCES for the program, EINVAL for a version that is
 * not spoken here or an answer that is none, ETIMEDOUT, EHOSTDOWN when it ended, ECANCELED.
 */
export async function openServer(options: OpenOptions): Promise<OpenServer> {
  const label = options.label ?? options.argv[0] ?? "";
  const transport = new ServerTransport(options);
  const client = newClient(options);
  const leave = (why: CodedError) => void transport.leave(why);
  const startMs = options.startMs ?? startMsDefault;
  const timer = setTimeout(() => {
    const reason = `did not say what it is within ${startMs} ms`;
    leave(new CodedError("ETIMEDOUT", `MCP server ${quoted(label)} ${reason}`));
  }, startMs);
  const onAbort = () => leave(new CodedError("ECANCELED", "it was cancelled"));
  try {
    if (options.signal.aborted) onAbort();
    options.signal.throwIfAborted();
    options.signal.addEventListener("abort", onAbort, { once: true });
    // The SDK's own clock never ends it before ours does.
    await client.connect(transport, { timeout: startMs * 2 });
    if (transport.failure !== undefined) throw transport.failure;
  } catch (error) {
    options.signal.removeEventListener("abort", onAbort);
    const why = failureOf(error, transport, options.signal, label);
    await transport.leave(why);
    throw why;
  } finally {
    clearTimeout(timer);
  }
  void transport.ended.then(() => options.signal.removeEventListener("abort", onAbort));
  return new Server({ client, transport, label, pageMs: options.pageMs ?? pageMsDefault });
}

function newClient(options: OpenOptions): Client {
  const client = new Client(
    { name: "cortexfs", version: productVersion },
    {
      // The same for everybody, because servers choose their tools by it.
      capabilities: { roots: {} },
      // Output is checked by our own validator; the SDK's would be compiled for nothing.
      jsonSchemaValidator: { getValidator: () => unchecked },
    },
  );
  client.setRequestHandler(ListRootsRequestSchema, () => ({
    roots: options.roots.map(({ uri, name }) => ({ uri, name })),
  }));
  return client;
}

const unchecked = (data: unknown) => ({
  valid: true as const,
  data: data as never,
  errorMessage: undefined,
});

function failureOf(
  error: unknown,
  transport: ServerTransport,
  signal: AbortSignal,
  label: string,
): CodedError {
  const { failure } = transport;
  if (failure !== undefined && failure !== wasClosed) return failure;
  if (isCoded(error)) return error;
  if (signal.aborted) return new CodedError("ECANCELED", "it was cancelled");
  const reason = `does not answer "initialize" as it must: ${describeFault(error)}`;
  return new CodedError("EINVAL", `MCP server ${quoted(label)} ${reason}`, { cause: error });
}

class Server implements OpenServer {
  private readonly conversation: Conversation;
  private tools: Promise<readonly ToolDefinition[]> | undefined;

  constructor(conversation: Conversation) {
    this.conversation = conversation;
    conversation.transport.onToolsChanged = () => {
      this.tools = undefined;
    };
  }

  get name(): string {
    return this.conversation.client.getServerVersion()?.name ?? "";
  }

  get version(): string {
    return this.conversation.client.getServerVersion()?.version ?? "";
  }

  get protocolVersion(): string {
    return this.conversation.transport.protocolVersion;
  }

  get skippedLines(): number {
    return this.conversation.transport.skippedLines;
  }

  get ignoredMessages(): number {
    return this.conversation.transport.ignoredMessages;
  }

  get isOver(): boolean {
    return this.conversation.transport.failure !== undefined;
  }

  get ended(): Promise<void> {
    return this.conversation.transport.ended;
  }

  async listTools(signal: AbortSignal): Promise<readonly ToolDefinition[]> {
    const known = this.tools;
    if (known !== undefined) return known;
    const reading = readTools(this.conversation, signal);
    this.tools = reading;
    try {
      return await reading;
    } catch (error) {
      // The next use asks again; a change that was announced meanwhile has cleared it already.
      if (this.tools === reading) this.tools = undefined;
      throw error;
    }
  }

  async callTool(
    name: string,
    args: Readonly<Record<string, unknown>>,
    options: CallOptions,
  ): Promise<CallResult> {
    const tools = await this.listTools(options.signal);
    const tool = tools.find((one) => one.name === name);
    return callTool(this.conversation, { name, args, schema: tool?.outputSchema }, options);
  }

  close(): Promise<void> {
    return this.conversation.transport.close();
  }
}
