// One connection at an agent's socket: who may ask what, one request, its answer, then close. What is
// said there is decoded and encoded by the wire that the first line speaks; nothing in this file knows
// which. While a stream runs, the same connection may ask `cancel`, `status` and `ping`, or what its
// wire has of them, and answers what the stream asks it; anything else is EINVAL and leaves the stream
// alone, but for a line that is no request: a call that waits for an answer is denied by it. A peer's
// mistake is one error frame; nothing is written for it.

import { type Code, type CodedError, coded, fail, opLineBytesMax } from "../abi/mod.ts";
import type { OpFrame, OpRequest, ResumeRequest, RunRequest } from "../interaction/mod.ts";
import type { FrameStream, Sessions } from "../session/mod.ts";
import { type Connection, firstLine } from "../sock/mod.ts";
import type { Terminals } from "../supervise/mod.ts";
import type { AgentWire } from "./agent-wire.ts";
import { noRecord, opWire } from "./op-wire.ts";
import { openWire } from "./open-wire.ts";
import { answerTerminal } from "./terminal-ops.ts";

/** What a connection needs of the server that it reached. */
export interface AgentService {
  readonly agent: string;
  /** The uid that may ask everything. */
  readonly owner: number;
  readonly sessions: Sessions;
  readonly terminals: Terminals;
  /** Aborted once the server stops: nothing new is admitted. */
  readonly stopping: AbortSignal;
  /** Throws a coded error when the agent cannot run now or the scope is not allowed. */
  admit(request: OpRequest): void;
  /** Called for a failure that is not the peer's. */
  onFault(error: CodedError): void;
}

/** What uid 0 may ask of an agent that belongs to somebody else. */
const rootOps: ReadonlySet<OpRequest["op"]> = new Set(["ping", "status", "cancel", "stop"]);

/** What a connection may ask while its stream runs. */
const sideOps: ReadonlySet<OpRequest["op"]> = new Set(["ping", "status", "cancel"]);

/** What has a connection of its own; a start may take its time. */
const terminalOps: ReadonlySet<OpRequest["op"]> = new Set(["start", "stop", "ps"]);

export const agentConnectionOptions = { lineBytesMax: opLineBytesMax } as const;

/** The line that refuses a peer whose wire is not known yet. */
export function errorLine(code: Code, message: string): string {
  return opWire.error(code, message);
}

/** Serves one connection to its end; never rejects. */
export async function serveAgentConnection(
  connection: Connection,
  service: AgentService,
): Promise<void> {
  await connection.send(await answerFirst(connection, service));
  connection.end();
}

/** Answers the first line; gives the last line to send, or "" when all is sent. */
async function answerFirst(connection: Connection, service: AgentService): Promise<string> {
  let wire: AgentWire = opWire;
  try {
    const { uid } = connection.peer;
    if (uid !== service.owner && uid !== 0) {
      const { agent, owner } = service;
      const reason = `agent "${agent}" belongs to uid ${owner}, the peer is uid ${uid}`;
      return errorLine("EACCES", reason);
    }
    const line = await firstLine(connection, service.stopping);
    if (line === undefined) return "";
    if (!line.ok) return errorLine(line.code, line.reason);
    const opened = await openWire(line.line);
    if (opened.wire === undefined) return opened.answer;
    ({ wire } = opened);
    const { asked } = opened;
    if (!asked.ok) return wire.error(asked.code, asked.message);
    return await answer({ connection, service, wire }, asked.request);
  } catch (error) {
    return errorOf(error, service, wire);
  }
}

/** A connection with what it reached and the wire that it speaks. */
interface Talk {
  readonly connection: Connection;
  readonly service: AgentService;
  readonly wire: AgentWire;
}

async function answer(talk: Talk, request: OpRequest): Promise<string> {
  const { connection, service, wire } = talk;
  if (connection.peer.uid !== service.owner && !rootOps.has(request.op)) {
    const allowed = [...rootOps].join(", ");
    return wire.error("EACCES", `op "${request.op}" is the owner's; uid 0 may ask ${allowed}`);
  }
  service.admit(request);
  if (isStreamed(request)) {
    await stream(talk, request);
    return "";
  }
  return encodeAll(wire, await answerShort(service, request));
}

type StreamRequest = RunRequest | ResumeRequest;
type ShortRequest = Exclude<OpRequest, StreamRequest>;

function isStreamed(request: OpRequest): request is StreamRequest {
  return request.op === "send" || request.op === "tsh" || request.op === "resume";
}

async function answerShort(
  { agent, sessions, terminals }: AgentService,
  request: ShortRequest,
): Promise<readonly OpFrame[]> {
  switch (request.op) {
    case "start":
    case "stop":
    case "ps":
      return await answerTerminal(terminals, agent, request);
    case "ping":
      return [{ type: "pong", id: noRecord }];
    case "status":
      return [await sessions.status(agent, request)];
    case "cancel":
      return sessions.cancel(agent, request.id);
    case "approve":
      return fail("EACCES", "a call is approved on the connection that sent the input");
  }
}

async function stream(talk: Talk, request: StreamRequest): Promise<void> {
  const { connection, service, wire } = talk;
  const { agent, sessions } = service;
  const frames: FrameStream =
    request.op === "resume"
      ? await sessions.resume(agent, request)
      : await sessions.send(agent, request);
  // The run goes on without its client; only the reading of its frames ends.
  void connection.closed.then(() => frames.close());
  const side = answerSide(talk, frames);
  for await (const frame of frames) {
    if (connection.isClosed) break;
    const line = wire.encode(frame);
    if (line !== "") await connection.send(line);
  }
  frames.close();
  connection.end();
  await side;
}

/** Answers further lines until the peer has said everything or the stream has ended. */
async function answerSide(talk: Talk, frames: FrameStream): Promise<void> {
  for await (const line of talk.connection) {
    const reply = await answerSideLine(line, talk, frames);
    if (reply !== "") await talk.connection.send(reply);
  }
  frames.answersEnded();
}

type Line = Exclude<Awaited<ReturnType<Connection["next"]>>, undefined>;

async function answerSideLine(
  line: Line,
  { service, wire }: Talk,
  frames: FrameStream,
): Promise<string> {
  const asked = line.ok
    ? wire.decodeBeside(line.line)
    : { ok: false as const, code: line.code, message: line.reason };
  if (!asked.ok) {
    frames.malformedAnswer(asked.message);
    return wire.error(asked.code, asked.message);
  }
  const { request } = asked;
  if (isStreamed(request) || terminalOps.has(request.op)) {
    const allowed = [...sideOps].join(", ");
    const reason = `a stream runs on this connection, it takes ${allowed}`;
    return wire.error("EINVAL", `cannot serve op "${request.op}": ${reason}`);
  }
  try {
    service.admit(request);
    if (request.op === "approve") {
      const { run, id: call, decision, reason, digest } = request;
      frames.answer({ run, call, decision, reason, digest });
      return "";
    }
    return encodeAll(wire, await answerShort(service, request));
  } catch (error) {
    return errorOf(error, service, wire);
  }
}

function encodeAll(wire: AgentWire, frames: readonly OpFrame[]): string {
  return frames.map((frame) => wire.encode(frame)).join("");
}

function errorOf(thrown: unknown, service: AgentService, wire: AgentWire): string {
  const error = coded(thrown);
  if (error !== thrown || error.code === "EIO") service.onFault(error);
  const { code, message, hint } = error;
  return wire.error(code, hint === undefined ? message : `${message}; ${hint}`);
}
