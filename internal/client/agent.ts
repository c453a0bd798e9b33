// Talks to an agent at its socket: one request out, its frames in. Finds the socket by its ABI path
// in the tree first, then in the runtime folder of these places.

import { join } from "node:path";
import { type Code, CodedError, fail, isCode, objectName, opLineBytesMax } from "../abi/mod.ts";
import type { ApproveRequest, OpFrame, OpRequest } from "../interaction/mod.ts";
import { type Connection, connectLines } from "../sock/mod.ts";
import { treeRuntime } from "../tree/mod.ts";
import {
  askControl,
  hungHint,
  parse,
  type ServerPlaces,
  type ServerReport,
  serverCandidates,
  startHint,
  trustedServers,
} from "./control.ts";

/** One frame of a server, newline included. Larger than any request, because frames wrap content. */
const frameLineBytesMax = 8 * opLineBytesMax;

/** Time a short answer may take, a long log to open included. Past it ETIMEDOUT. */
const shortAnswerMs = 30_000;

/** The same for what starts or ends processes, which has bounds of its own. */
const processAnswerMs = 60_000;

export interface AskOptions {
  /** For tests: instead of `shortAnswerMs`. */
  readonly answerMs?: number;
  /** Closes the connection; the frames end. A run goes on without its client. */
  readonly signal?: AbortSignal;
  /** Decides about a call that waits, on this connection; without it the server's time runs out. */
  readonly onApproval?: (
    frame: Extract<OpFrame, { type: "approval_request" }>,
    answer: (request: ApproveRequest) => void,
  ) => void;
}

/**
 * Sends one request and gives its frames as they arrive; the iteration ends when the server closes.
 * Leaving the iteration closes the connection. Throws EHOSTDOWN when nobody serves the agent, and
 * what is wrong with the agent when its server knows.
 */
export async function* askAgent(
  places: ServerPlaces,
  agent: string,
  request: OpRequest,
  options: AskOptions = {},
): AsyncGenerator<OpFrame> {
  const connection = await connectAgent(places, objectName("agent", agent));
  const abort = () => connection.destroy();
  options.signal?.addEventListener("abort", abort, { once: true });
  let late = false;
  const isShort = request.op !== "send" && request.op !== "resume";
  const timer = setTimeout(() => {
    late = true;
    connection.destroy();
  }, options.answerMs ?? answerMs(request));
  if (!isShort) clearTimeout(timer);
  try {
    if (options.signal?.aborted) return;
    await connection.send(requestLine(request));
    let last: OpFrame["type"] | undefined;
    for await (const line of connection) {
      // Half a line is what a server leaves behind that was killed while it wrote.
      if (!line.ok) break;
      const frame = parse(line.line);
      if (!isFrame(frame)) fail("EIO", `agent "${agent}" sent what is no frame`);
      last = frame.type;
      if (frame.type === "approval_request") {
        options.onApproval?.(frame, (answer) => void connection.send(requestLine(answer)));
      }
      yield frame;
    }
    if (late && last === undefined) {
      fail("ETIMEDOUT", `the server of agent "${agent}" does not answer`, {
        hint: hungHint(connection.peer.pid),
      });
    }
    if (!options.signal?.aborted && !isEnd(request, last)) broken(agent, request);
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", abort);
    connection.destroy();
  }
}

function answerMs({ op }: OpRequest): number {
  return op === "start" || op === "stop" ? processAnswerMs : shortAnswerMs;
}

/** A stream ends with `done`, or with the `error` that kept it from starting; others with a frame. */
function isEnd(request: OpRequest, last: OpFrame["type"] | undefined): boolean {
  // A list has a frame for each that there is, and there may be none.
  if (request.op === "ps") return true;
  const streams = request.op === "send" || request.op === "resume";
  return streams ? last === "done" || last === "error" : last !== undefined;
}

function broken(agent: string, request: OpRequest): never {
  const hint =
    request.op === "send"
      ? "send it again with the same id: it runs once, whatever happened"
      : "try again";
  return fail("EHOSTDOWN", `the server of agent "${agent}" went away before its answer ended`, {
    hint,
  });
}

/** The first error frame of a finished answer as an exception, for requests that end at once. */
export function errorOfFrame(frame: OpFrame): CodedError | undefined {
  if (frame.type !== "error") return undefined;
  const code: Code = isCode(frame.code) ? frame.code : "EIO";
  return new CodedError(code, frame.message);
}

/** The line of a request, with its LF. */
export function requestLine(request: OpRequest): string {
  if (!("scope" in request)) return `${JSON.stringify(request)}\n`;
  const { scope, ...rest } = request;
  const shared = scope.kind === "shared" ? { shared: scope.space } : {};
  return `${JSON.stringify({ ...rest, scope: scope.kind, ...shared })}\n`;
}

async function connectAgent(places: ServerPlaces, agent: string): Promise<Connection> {
  const paths = [
    join(places.source, "agent", `${agent}.sock`),
    join(treeRuntime(places), "agent", `${agent}.sock`),
  ];
  const first = await connectFirst(places, paths);
  if (!(first instanceof CodedError)) return first;
  // A server that is there may not know a new agent yet, or knows why it cannot serve it.
  const report = await rescan(places);
  if (report === undefined) throw first;
  const fault = report.faults.find((one) => one.agent === agent);
  if (fault !== undefined) {
    throw new CodedError(fault.code, fault.message, fault.hint ? { hint: fault.hint } : {});
  }
  if (!report.agents.includes(agent)) {
    fail("ENOENT", `agent "${agent}" does not exist`, { hint: "see ctx agent list" });
  }
  const second = await connectFirst(places, paths);
  if (second instanceof CodedError) throw second;
  return second;
}

/** What a server of the tree says after it has looked anew; undefined when none may be asked. */
async function rescan(places: ServerPlaces): Promise<ServerReport | undefined> {
  for (const candidate of serverCandidates(places)) {
    try {
      const reply = await askControl(candidate, "rescan");
      if (reply.type === "rescan") return reply;
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
    }
  }
  return undefined;
}

async function connectFirst(
  places: ServerPlaces,
  paths: readonly string[],
): Promise<Connection | CodedError> {
  let last: CodedError | undefined;
  for (const path of paths) {
    try {
      return await connectLines({
        path,
        servers: trustedServers(places),
        lineBytesMax: frameLineBytesMax,
        hint: startHint,
      });
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
      // A socket that is there and refused says more than one that is missing.
      if (last === undefined || last.code === "EHOSTDOWN") last = error;
      if (error.code !== "EHOSTDOWN") break;
    }
  }
  return last ?? new CodedError("EHOSTDOWN", "the agent has no socket");
}

function isFrame(value: unknown): value is OpFrame {
  return typeof value === "object" && value !== null && "type" in value && "id" in value;
}
