// One request to an open server: by the SDK, within our bounds, with errors of ours.

import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { McpError, ResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { type Code, CodedError, isCoded, quoted } from "../abi/mod.ts";
import type { ServerTransport } from "./transport.ts";
import type { Progress } from "./types.ts";

export interface Conversation {
  readonly client: Client;
  readonly transport: ServerTransport;
  readonly label: string;
  readonly pageMs: number;
}

export interface Asked {
  readonly method: "tools/list" | "tools/call";
  readonly params: Record<string, unknown>;
  /** How a message names the request, e.g. `tool "x"`. */
  readonly what: string;
  readonly signal: AbortSignal;
  /** Without answer or progress for this long it is cancelled. */
  readonly idleMs: number;
  /** It is cancelled then, whatever progress there is. */
  readonly totalMs: number;
  onProgress?(progress: Progress): void;
}

/** Longer than any bound of ours, so that the SDK's own clock never ends a request. */
const neverMs = 2 ** 31 - 1;

/** Characters of a server's error that a message quotes. */
const faultCharactersMax = 2000;

/** Progress tokens given out; they are numbers, since some servers take nothing else. */
let progressTokens = 0;

/** The result as the server sent it, without `_meta`. A request that runs out of time is cancelled there. */
export async function ask(
  { client, transport, label }: Conversation,
  asked: Asked,
): Promise<Readonly<Record<string, unknown>>> {
  const stop = new AbortController();
  const end = (code: Code, reason: string) => {
    const message = `${asked.what} of MCP server ${quoted(label)} ${reason}`;
    stop.abort(new CodedError(code, message));
  };
  const cancelled = () => end("ECANCELED", "was cancelled");
  if (transport.failure !== undefined) throw transport.failure;
  if (asked.signal.aborted) cancelled();
  const late = () => end("ETIMEDOUT", `neither answered nor progressed within ${asked.idleMs} ms`);
  let idle = setTimeout(late, asked.idleMs);
  const total = setTimeout(() => {
    end("ETIMEDOUT", `did not answer within ${asked.totalMs} ms`);
  }, asked.totalMs);
  asked.signal.addEventListener("abort", cancelled, { once: true });
  const progressToken = ++progressTokens;
  transport.progress.set(progressToken, (progress) => {
    clearTimeout(idle);
    idle = setTimeout(late, asked.idleMs);
    asked.onProgress?.(progress);
  });
  try {
    stop.signal.throwIfAborted();
    const { method } = asked;
    const params = { ...asked.params, _meta: { progressToken } };
    const options = { signal: stop.signal, timeout: neverMs };
    return await client.request({ method, params }, ResultSchema, options);
  } catch (error) {
    if (stop.signal.aborted && isCoded(stop.signal.reason)) throw stop.signal.reason;
    if (transport.failure !== undefined) throw transport.failure;
    throw faultOf(error, asked.what, label);
  } finally {
    clearTimeout(idle);
    clearTimeout(total);
    transport.progress.delete(progressToken);
    asked.signal.removeEventListener("abort", cancelled);
  }
}

/** JSON-RPC's codes for what the one who asks did wrong. */
const ourMistakes = [-32602, -32601, -32600];

function faultOf(error: unknown, what: string, label: string): CodedError {
  if (isCoded(error)) return error;
  const mistaken = error instanceof McpError && ourMistakes.includes(error.code);
  const message = `${what} of MCP server ${quoted(label)} failed: ${describeFault(error)}`;
  return new CodedError(mistaken ? "EINVAL" : "EIO", message, { cause: error });
}

/** Whether the server said that it knows no such request. */
export function isUnknownMethod({ cause }: CodedError): boolean {
  return cause instanceof McpError && cause.code === -32601;
}

/** What an error of the SDK says, without the SDK's own words around it. */
export function describeFault(error: unknown): string {
  const issue = (error as { issues?: readonly { path: PropertyKey[]; message: string }[] }).issues;
  const [first] = Array.isArray(issue) ? issue : [];
  const said = error instanceof Error ? error.message : String(error);
  const text = first ? `${first.path.map(String).join(".")}: ${first.message}` : said;
  return text.replace(/^MCP error (-?\d+): /, "").slice(0, faultCharactersMax);
}
