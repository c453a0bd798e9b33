// One connection at an agent's socket: who may ask what, one request, its answer, then close. While
// a stream runs, the same connection may ask `cancel`, `status` and `ping`; anything else is EINVAL
// and leaves the stream alone. A peer's mistake is one error frame; nothing is written for it.

import { type Code, type CodedError, coded, opLineBytesMax } from "../abi/mod.ts";
import {
  decodeOpLine,
  encodeFrame,
  type OpFrame,
  type OpRequest,
  type ResumeRequest,
  type SendRequest,
} from "../interaction/mod.ts";
import type { FrameStream, Sessions } from "../session/mod.ts";
import { type Connection, firstLine } from "../sock/mod.ts";

/** What a connection needs of the server that it reached. */
export interface AgentService {
  readonly agent: string;
  /** The uid that may ask everything. */
  readonly owner: number;
  readonly sessions: Sessions;
  /** Aborted once the server stops: nothing new is admitted. */
  readonly stopping: AbortSignal;
  /** Throws a coded error when the agent cannot run now or the scope is not allowed. */
  admit(request: OpRequest): void;
  /** Called for a failure that is not the peer's. */
  onFault(error: CodedError): void;
}

/** Event id of a frame that stands for no record: a cursor from which everything is replayed. */
const noRecord = "0";

/** What uid 0 may ask of an agent that belongs to somebody else. */
const rootOps: ReadonlySet<OpRequest["op"]> = new Set(["ping", "status", "cancel"]);

/** What a connection may ask while its stream runs. */
const sideOps = rootOps;

export const agentConnectionOptions = { lineBytesMax: opLineBytesMax } as const;

export function errorLine(code: Code, message: string): string {
  return encodeFrame({ type: "error", id: noRecord, code, message });
}

/** Serves one connection to its end; never rejects. */
export async function serveAgentConnection(
  connection: Connection,
  service: AgentService,
): Promise<void> {
  try {
    await connection.send(await answerFirst(connection, service));
  } catch (error) {
    await connection.send(errorOf(error, service));
  }
  connection.end();
}

/** Answers the first line; gives the last line to send, or "" when all is sent. */
async function answerFirst(connection: Connection, service: AgentService): Promise<string> {
  const { uid } = connection.peer;
  if (uid !== service.owner && uid !== 0) {
    const { agent, owner } = service;
    return errorLine("EACCES", `agent "${agent}" belongs to uid ${owner}, the peer is uid ${uid}`);
  }
  const line = await firstLine(connection, service.stopping);
  if (line === undefined) return "";
  if (!line.ok) return errorLine(line.code, line.reason);
  const decoded = decodeOpLine(line.line);
  if (!decoded.ok) return errorLine(decoded.code, decoded.message);
  const { request } = decoded;
  if (uid !== service.owner && !rootOps.has(request.op)) {
    const allowed = [...rootOps].join(", ");
    return errorLine("EACCES", `op "${request.op}" is the owner's; uid 0 may ask ${allowed}`);
  }
  service.admit(request);
  if (request.op === "send" || request.op === "resume") {
    await stream(connection, service, request);
    return "";
  }
  return (await answerShort(service, request)).map(encodeFrame).join("");
}

type ShortRequest = Exclude<OpRequest, SendRequest | ResumeRequest>;

async function answerShort(
  { agent, sessions }: AgentService,
  request: ShortRequest,
): Promise<readonly OpFrame[]> {
  switch (request.op) {
    case "ping":
      return [{ type: "pong", id: noRecord }];
    case "status":
      return [await sessions.status(agent, request)];
    case "cancel":
      return sessions.cancel(agent, request.id);
  }
}

async function stream(
  connection: Connection,
  service: AgentService,
  request: SendRequest | ResumeRequest,
): Promise<void> {
  const { agent, sessions } = service;
  const frames: FrameStream =
    request.op === "send"
      ? await sessions.send(agent, request)
      : await sessions.resume(agent, request);
  // The run goes on without its client; only the reading of its frames ends.
  void connection.closed.then(() => frames.close());
  const side = answerSide(connection, service);
  for await (const frame of frames) {
    if (connection.isClosed) break;
    await connection.send(encodeFrame(frame));
  }
  frames.close();
  connection.end();
  await side;
}

/** Answers further lines until the peer has said everything or the stream has ended. */
async function answerSide(connection: Connection, service: AgentService): Promise<void> {
  for await (const line of connection) {
    await connection.send(await answerSideLine(line, service));
  }
}

type Line = Exclude<Awaited<ReturnType<Connection["next"]>>, undefined>;

async function answerSideLine(line: Line, service: AgentService): Promise<string> {
  if (!line.ok) return errorLine(line.code, line.reason);
  const decoded = decodeOpLine(line.line);
  if (!decoded.ok) return errorLine(decoded.code, decoded.message);
  const { request } = decoded;
  if (request.op === "send" || request.op === "resume") {
    const allowed = [...sideOps].join(", ");
    const reason = `a stream runs on this connection, it takes ${allowed}`;
    return errorLine("EINVAL", `cannot serve op "${request.op}": ${reason}`);
  }
  try {
    service.admit(request);
    return (await answerShort(service, request)).map(encodeFrame).join("");
  } catch (error) {
    return errorOf(error, service);
  }
}

function errorOf(thrown: unknown, service: AgentService): string {
  const error = coded(thrown);
  if (error !== thrown || error.code === "EIO") service.onFault(error);
  const { code, message, hint } = error;
  return errorLine(code, hint === undefined ? message : `${message}; ${hint}`);
}
