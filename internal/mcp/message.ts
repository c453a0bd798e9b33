// One line of a server as a JSON-RPC message that the SDK can take, or as what it is instead. Replies
// are rebuilt from the members that count: `_meta` and what else a server adds never reach the SDK,
// whose strict reading would leave the request without an answer.

import { depthOver } from "../mcp-tool/mod.ts";
import { replyDepthMax } from "./bounds.ts";

type Members = Readonly<Record<string, unknown>>;

export type Incoming =
  | { readonly kind: "request"; readonly method: string; readonly message: Members }
  | { readonly kind: "notification"; readonly method: string; readonly message: Members }
  | { readonly kind: "reply"; readonly id: unknown; readonly message: Members }
  | { readonly kind: "noise" };

const noise: Incoming = { kind: "noise" };

/** JSON-RPC's code for an error inside of the one that answers. */
const internalError = -32603;

// Not fatal: a wrong byte inside of a text is shown as one, and outside of texts it is no JSON anyway.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** A line is one message, or a list of them (batches were in MCP 2025-03-26). */
export function readMessages(line: Uint8Array): readonly Incoming[] {
  if (!mayBeMessage(line)) return [noise];
  let value: unknown;
  try {
    value = JSON.parse(decoder.decode(line));
  } catch {
    return [noise];
  }
  if (!Array.isArray(value)) return [readMessage(value)];
  return value.length === 0 ? [noise] : value.map(readMessage);
}

/** Whether it begins as one does, after white space: a log line need not fail as JSON first. */
function mayBeMessage(line: Uint8Array): boolean {
  for (const byte of line) {
    if (byte === 0x20 || byte === 0x09 || byte === 0x0d) continue;
    return byte === 0x7b || byte === 0x5b;
  }
  return false;
}

function readMessage(value: unknown): Incoming {
  if (!isMembers(value)) return noise;
  const { id, method, params, result, error } = value;
  if (typeof method === "string") {
    const message = {
      jsonrpc: "2.0",
      method,
      ...(isMembers(params) && { params: withoutMeta(params) }),
    };
    if (id === undefined) return { kind: "notification", method, message };
    if (typeof id !== "string" && !Number.isSafeInteger(id)) return noise;
    return { kind: "request", method, message: { ...message, id } };
  }
  if (id === undefined || (result === undefined && error === undefined)) return noise;
  // Our ids are numbers; a server may well have read them as text.
  const asked = typeof id === "string" && /^\d{1,15}$/.test(id) ? Number(id) : id;
  return { kind: "reply", id: asked, message: replyMessage(asked, result, error) };
}

function replyMessage(id: unknown, result: unknown, error: unknown): Members {
  const refused = (message: string) => ({
    jsonrpc: "2.0",
    id,
    error: { code: internalError, message },
  });
  if (error !== undefined && error !== null) {
    if (!isMembers(error)) return refused("the error in its reply is no object");
    const { code, message } = error;
    return {
      ...refused(typeof message === "string" ? message : "no reason is given"),
      ...(Number.isSafeInteger(code) && {
        error: { code, message: typeof message === "string" ? message : "no reason is given" },
      }),
    };
  }
  if (!isMembers(result)) return refused("the result in its reply is no object");
  if (depthOver(result, replyDepthMax)) {
    return refused(`its reply nests deeper than ${replyDepthMax} levels`);
  }
  return { jsonrpc: "2.0", id, result: withoutMeta(result) };
}

function withoutMeta(value: Members): Members {
  if (!Object.hasOwn(value, "_meta")) return value;
  const { _meta, ...rest } = value;
  return rest;
}

export function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
