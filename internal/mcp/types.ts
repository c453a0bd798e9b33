// What the rest of the house knows of an open server.

import type { CallResult, ToolDefinition } from "../mcp-tool/mod.ts";

export interface Root {
  /** A file: URI. */
  readonly uri: string;
  readonly name: string;
}

export interface OpenOptions {
  /** Program and arguments. A bare program is looked up in the PATH of `env`. */
  readonly argv: readonly string[];
  /** The whole environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** What `roots/list` is answered with. */
  readonly roots: readonly Root[];
  /** Ends the server, whenever it comes. */
  readonly signal: AbortSignal;
  readonly startMs?: number;
  /** For one page of `tools/list`. */
  readonly pageMs?: number;
  /** What messages call the server; its program when absent. */
  readonly label?: string;
  /** Gets each line of the server's standard error, cut at `logLineBytesMax`. */
  onLog?(line: string): void;
}

export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  /** Without answer or progress for this long the call is cancelled. */
  readonly idleMs: number;
  /** The call is cancelled then, whatever progress there is. */
  readonly totalMs: number;
  onProgress?(progress: Progress): void;
}

export interface OpenServer {
  /** As the server calls itself. */
  readonly name: string;
  readonly version: string;
  readonly protocolVersion: string;
  /** Lines of standard output so far that were no JSON-RPC message. */
  readonly skippedLines: number;
  /** Messages so far that nobody asked for: late, repeated and unknown replies, and notifications. */
  readonly ignoredMessages: number;
  /** Every page, read once and again after the server said that its tools changed. */
  listTools(signal: AbortSignal): Promise<readonly ToolDefinition[]>;
  /** Throws for what the protocol calls an error; a tool's own failure is a result with `isError`. */
  callTool(
    name: string,
    args: Readonly<Record<string, unknown>>,
    options: CallOptions,
  ): Promise<CallResult>;
  /** It has ended, or is to be used no more: whatever is asked of it fails. */
  readonly isOver: boolean;
  /** Resolves when the process is gone with everything that could be reached of what it started. */
  readonly ended: Promise<void>;
  /** Closes its input, then SIGTERM, then SIGKILL; resolves with `ended`. */
  close(): Promise<void>;
}
