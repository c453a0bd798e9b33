// The control socket of a server, `<treeRuntime>/ctxd.sock`: one JSON line asks, one answers. For
// programs of this project alone; agents are talked to at their own sockets.

import { statSync } from "node:fs";
import { join } from "node:path";
import { type Code, CodedError, fail, isCode } from "../abi/mod.ts";
import { type Connection, connectLines } from "../sock/mod.ts";
import { type Places, treeRuntime } from "../tree/mod.ts";

/** One line on a control socket, newline included. Past it EMSGSIZE. */
export const controlLineBytesMax = 1024 * 1024;

/** Time a control answer may take. Past it the server counts as hung: ETIMEDOUT. */
export const controlAnswerMs = 10_000;

export type ControlOp = "ping" | "rescan" | "stop";

/** Why an agent of the tree is not served. */
export interface AgentFaultReport {
  readonly agent: string;
  readonly code: Code;
  readonly message: string;
  readonly hint?: string | undefined;
}

export interface ServerReport {
  readonly pid: number;
  readonly uid: number;
  readonly version: string;
  readonly source: string;
  readonly agents: readonly string[];
  readonly faults: readonly AgentFaultReport[];
  readonly sessions: { readonly open: number; readonly running: number; readonly queued: number };
}

export type ControlReply =
  | ({ readonly type: "pong" | "rescan" } & ServerReport)
  | { readonly type: "stopping"; readonly pid: number }
  | { readonly type: "error"; readonly code: Code; readonly message: string };

export const startHint = "start it with ctxd serve";

/** What to do about a server that is there and says nothing. */
export function hungHint(pid: number): string {
  return `pid ${pid} is stopped or stuck; continue or end it, then try again`;
}

export function controlPath(places: Pick<Places, "runtime" | "source">): string {
  return join(treeRuntime(places), "ctxd.sock");
}

export type ServerPlaces = Pick<Places, "runtime" | "source" | "uid">;

/** Where the server of a tree may be: this user's own, then the system's. */
export function serverCandidates(places: ServerPlaces): readonly ServerPlaces[] {
  const system = { source: places.source, runtime: "/run/cortexfs", uid: 0 };
  return places.uid === 0 ? [places] : [places, system];
}

/** Who may listen at a tree's sockets: this user, root, and whom the tree belongs to. */
export function trustedServers(places: ServerPlaces): readonly number[] {
  const owner = statSync(places.source, { throwIfNoEntry: false })?.uid;
  return [...new Set([places.uid, 0, ...(owner === undefined ? [] : [owner])])];
}

/** Asks the server of these places. Throws EHOSTDOWN when there is none, or the server's refusal. */
export async function askControl(
  places: ServerPlaces,
  op: ControlOp,
): Promise<Exclude<ControlReply, { type: "error" }>> {
  const path = controlPath(places);
  const connection = await connectLines({
    path,
    servers: trustedServers(places),
    lineBytesMax: controlLineBytesMax,
    hint: startHint,
  });
  try {
    await connection.send(`${JSON.stringify({ op })}\n`);
    const reply = await answerOf(connection, path);
    if (reply.type !== "error") return reply;
    throw new CodedError(reply.code, reply.message);
  } finally {
    connection.destroy();
  }
}

async function answerOf(connection: Connection, path: string): Promise<ControlReply> {
  const late = setTimeout(() => connection.destroy(), controlAnswerMs);
  const started = performance.now();
  const line = await connection.next();
  clearTimeout(late);
  if (line === undefined) {
    const hung = performance.now() - started >= controlAnswerMs;
    const message = `the server at "${path}" does not answer`;
    if (hung) return fail("ETIMEDOUT", message, { hint: hungHint(connection.peer.pid) });
    return fail("EHOSTDOWN", message, { hint: startHint });
  }
  const reply: unknown = line.ok ? parse(line.line) : undefined;
  if (isReply(reply)) return reply;
  return fail("EIO", `the server at "${path}" answers what is no control reply`);
}

export function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function isReply(value: unknown): value is ControlReply {
  if (typeof value !== "object" || value === null || !("type" in value)) return false;
  if (value.type !== "error") {
    return ["pong", "rescan", "stopping"].includes(String(value.type)) && "pid" in value;
  }
  return "code" in value && typeof value.code === "string" && isCode(value.code);
}
