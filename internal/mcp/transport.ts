// Our end of the SDK's transport interface over a server's process. What a hostile server could do to
// the SDK is stopped here: replies that nobody waits for, progress of nothing, floods of notifications,
// another protocol version. What it says that is no message is counted.

import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { CodedError } from "../abi/mod.ts";
import { inputClosedGraceMs } from "./bounds.ts";
import { type Incoming, isMembers, readMessages } from "./message.ts";
import { ServerProcess } from "./process.ts";
import type { OpenOptions, Progress } from "./types.ts";
import { versionRefusal } from "./versions.ts";

/** Why a server is gone that we closed, and that the SDK closes when it takes no answer to `initialize`. */
export const wasClosed = new CodedError("ECANCELED", "the MCP server was closed");

export class ServerTransport implements Transport {
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  /** Called when the server says that its tools are others now. */
  onToolsChanged?: (() => void) | undefined;
  skippedLines = 0;
  ignoredMessages = 0;
  /** Bytes of the lines that came so far. */
  bytesRead = 0;
  /** Why the server is gone; undefined while it is there. */
  failure: CodedError | undefined;
  protocolVersion = "";
  /** Who is told of progress, by token. */
  readonly progress = new Map<unknown, (progress: Progress) => void>();
  private process: ServerProcess | undefined;
  private readonly options: OpenOptions;
  private readonly label: string;
  /** Requests of ours that wait for their reply, by id. */
  private readonly asked = new Map<unknown, string>();

  constructor(options: OpenOptions) {
    this.options = options;
    this.label = options.label ?? options.argv[0] ?? "";
  }

  /** Resolves at once when the server was never started. */
  get ended(): Promise<void> {
    return this.process?.ended ?? Promise.resolve();
  }

  async start(): Promise<void> {
    this.process = new ServerProcess(this.options, {
      line: (bytes) => this.receive(bytes),
      gone: (why) => this.gone(why),
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if ("method" in message && "id" in message) {
      this.asked.set(message.id, message.method);
      const acts = message.method === "tools/call";
      if (acts && this.process) this.process.graceMs = inputClosedGraceMs;
    } else if ("method" in message && message.method === "notifications/cancelled") {
      this.asked.delete(message.params?.["requestId"]);
    }
    this.process?.write(`${JSON.stringify(message)}\n`);
  }

  close(): Promise<void> {
    return this.leave(wasClosed);
  }

  /** Ends the server for this reason. */
  leave(why: CodedError): Promise<void> {
    return this.process?.leave(why) ?? Promise.resolve();
  }

  private gone(why: CodedError): void {
    this.failure = why;
    this.asked.clear();
    this.onclose?.();
  }

  private receive(bytes: Uint8Array): void {
    this.bytesRead += bytes.length;
    for (const incoming of readMessages(bytes)) {
      if (this.failure !== undefined) return;
      if (!this.take(incoming)) continue;
      if (incoming.kind !== "noise") this.onmessage?.(incoming.message as JSONRPCMessage);
    }
  }

  /** Whether the SDK gets to see it. */
  private take(incoming: Incoming): boolean {
    switch (incoming.kind) {
      case "noise":
        this.skippedLines += 1;
        return false;
      case "request":
        return true;
      case "notification":
        if (!this.takeNotification(incoming.method, incoming.message)) return this.ignore();
        return incoming.method === "notifications/cancelled";
      case "reply": {
        const method = this.asked.get(incoming.id);
        if (method === undefined) return this.ignore();
        this.asked.delete(incoming.id);
        return method !== "initialize" || this.takeVersion(incoming.message);
      }
    }
  }

  private ignore(): false {
    this.ignoredMessages += 1;
    return false;
  }

  /** Whether it means something to anybody here. */
  private takeNotification(method: string, message: Readonly<Record<string, unknown>>): boolean {
    if (method === "notifications/tools/list_changed") {
      this.onToolsChanged?.();
      return true;
    }
    if (method === "notifications/progress") return this.takeProgress(message["params"]);
    return method === "notifications/cancelled";
  }

  /** Past the SDK, which would hand on the last one only after the answer that ends the call. */
  private takeProgress(params: unknown): boolean {
    if (!isMembers(params)) return false;
    const { progressToken, progress, total, message } = params;
    const listener = this.progress.get(progressToken);
    if (listener === undefined || typeof progress !== "number") return false;
    listener({
      progress,
      ...(typeof total === "number" && { total }),
      ...(typeof message === "string" && { message }),
    });
    return true;
  }

  /** The SDK would take a version of 2024-10 and would not say what a newer server offers. */
  private takeVersion({ result }: Readonly<Record<string, unknown>>): boolean {
    if (!isMembers(result)) return true;
    const refusal = versionRefusal(this.label, result);
    if (refusal === undefined) {
      this.protocolVersion = String(result["protocolVersion"]);
      return true;
    }
    void this.leave(refusal);
    return false;
  }
}
