// One connection at the control socket: ping for everybody who can connect, rescan for owners of
// served agents, stop for root and the server's own uid.

import { type CodedError, coded, fail, productVersion, quoted } from "../abi/mod.ts";
import type { ControlReply, ServerReport } from "../client/mod.ts";
import type { Sessions } from "../session/mod.ts";
import { type Connection, firstLine } from "../sock/mod.ts";
import type { AgentSockets } from "./agents.ts";

export interface ControlService {
  readonly source: string;
  readonly serverUid: number;
  readonly agents: AgentSockets;
  readonly sessions: Pick<Sessions, "counts">;
  readonly stopping: AbortSignal;
  rescan(): void;
  /** Begins the clean stop; returns at once. */
  stop(): void;
}

/** Serves one connection to its end; never rejects. */
export async function serveControlConnection(
  connection: Connection,
  service: ControlService,
): Promise<void> {
  let stops = false;
  try {
    const line = await firstLine(connection, service.stopping);
    if (line !== undefined) {
      if (!line.ok) fail(line.code, line.reason);
      const reply = answer(line.line, connection.peer.uid, service);
      stops = reply.type === "stopping";
      await connection.send(`${JSON.stringify(reply)}\n`);
    }
  } catch (error) {
    await connection.send(controlErrorLine(coded(error)));
  }
  connection.end();
  if (stops) service.stop();
}

export function controlErrorLine(error: Pick<CodedError, "code" | "message">): string {
  const { code, message } = error;
  return `${JSON.stringify({ type: "error", code, message } satisfies ControlReply)}\n`;
}

function answer(line: string, uid: number, service: ControlService): ControlReply {
  const op = opOf(line);
  const isServer = uid === 0 || uid === service.serverUid;
  switch (op) {
    case "ping":
      return { type: "pong", ...report(service) };
    case "rescan":
      if (!isServer && !ownsAgent(uid, service.agents)) refuse(op, uid);
      service.rescan();
      return { type: "rescan", ...report(service) };
    case "stop":
      if (!isServer) refuse(op, uid);
      return { type: "stopping", pid: process.pid };
    default:
      return fail("EINVAL", `op ${quoted(op)} is not one of ping, rescan, stop`);
  }
}

function opOf(line: string): string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return fail("EINVAL", "request is not valid JSON");
  }
  const op = typeof value === "object" && value !== null && "op" in value ? value.op : undefined;
  return typeof op === "string" ? op : fail("EINVAL", `request has no string field "op"`);
}

function ownsAgent(uid: number, agents: AgentSockets): boolean {
  return [...agents.bound.values()].some((agent) => agent.owner.uid === uid);
}

function refuse(op: string, uid: number): never {
  return fail("EACCES", `op "${op}" is not for uid ${uid}`);
}

export function report(service: ControlService): ServerReport {
  return {
    pid: process.pid,
    uid: service.serverUid,
    version: productVersion,
    source: service.source,
    agents: [...service.agents.bound.keys()].sort(),
    faults: service.agents.faults.map(({ agent, error }) => ({
      agent,
      code: error.code,
      message: error.message,
      hint: error.hint,
    })),
    sessions: service.sessions.counts(),
  };
}
