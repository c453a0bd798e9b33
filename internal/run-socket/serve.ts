// One connection of a run: lines in, answers out, in order. Who asks is judged before what is asked
// is read, and judged again at each line.

import { fail, isCoded } from "../abi/mod.ts";
import {
  type CapabilityRequest,
  decodeCapabilityRequest,
  decodeTerminalRequest,
  encodeCapability,
  type Refusal,
  type Refused,
  type Reply,
  type UpdateRequest,
} from "../capability/mod.ts";
import type { LineResult } from "../frame/mod.ts";
import type { ProcessStamp } from "../os/mod.ts";
import type { Connection } from "../sock/mod.ts";
import type { Attempts } from "./attempts.ts";
import { ModelAnswer } from "./model-answer.ts";
import { RunPeer } from "./peer.ts";
import { refusalLine, told } from "./refusal.ts";
import { answerTerminal, serveCalls } from "./serve-calls.ts";
import type { Turns } from "./turns.ts";
import type { OpenRun, OpenTerminal } from "./types.ts";

/** Whose socket it is. */
export type Owner =
  | { readonly kind: "run"; readonly run: OpenRun }
  | { readonly kind: "terminal"; readonly run: OpenTerminal };

export interface Served {
  readonly owner: Owner;
  readonly attempts: Attempts;
  readonly turns: Turns;
  /** Aborted when the run is over: what waits then is not looked at any more. */
  readonly over: AbortSignal;
  roots(): readonly ProcessStamp[];
  onFault(error: unknown): void;
}

/** Resolves when the connection is over and nothing is served for it any more. */
export async function serveConnection(connection: Connection, served: Served): Promise<void> {
  let peer: RunPeer | undefined;
  try {
    served.attempts.count();
    // Pinned at once, whenever its turn comes.
    peer = new RunPeer(connection);
    await served.turns.take(served);
    peer.check(served.owner.run.peerUid, served.roots());
    await serveLines(connection, peer, served);
  } catch (error) {
    if (!isCoded(error)) served.onFault(error);
    connection.send(refusalLine(null, told(error)));
    // A stranger is not waited for: it could hold the places of the run's own processes.
    connection.destroy();
  } finally {
    peer?.close();
  }
}

async function serveLines(connection: Connection, peer: RunPeer, served: Served): Promise<void> {
  const gone = new AbortController();
  void connection.closed.then(() => gone.abort());
  for await (const line of connection) {
    await served.turns.take(served);
    if (served.over.aborted) break;
    served.attempts.count();
    peer.check(served.owner.run.peerUid, served.roots());
    if (!line.ok) {
      connection.send(refusalLine(null, { code: line.code, message: line.reason }));
      break;
    }
    const calls = await answerTerminal(line.line, { connection, served, gone: gone.signal });
    if (calls === undefined) {
      const answer = await answerTo(line, connection, served, gone.signal);
      if (answer !== undefined) await connection.send(answer);
    } else if (typeof calls === "string") {
      await connection.send(calls);
    } else {
      await serveCalls(calls, { connection, peer, served });
      break;
    }
  }
  connection.end();
  await connection.closed;
}

/** The line that answers; undefined when frames have answered already. */
async function answerTo(
  { line }: Extract<LineResult, { ok: true }>,
  connection: Connection,
  served: Served,
  signal: AbortSignal,
): Promise<string | undefined> {
  const decoded = decodeCapabilityRequest(line);
  const id = decoded.ok ? decoded.request.request_id : decoded.request_id;
  try {
    if (id !== null) served.attempts.consume(id);
    if (!decoded.ok) return refusalLine(id, refusalOf(line, decoded));
    const { request } = decoded;
    return await served.attempts.serve(() => dispatch(request, connection, served, signal));
  } catch (error) {
    if (!isCoded(error)) served.onFault(error);
    return refusalLine(id, told(error));
  }
}

/** What is asked of a terminal is known here, and is not this socket's. */
function refusalOf(line: string, refused: Refused): Pick<Refused, "code" | "message"> {
  const asked = decodeTerminalRequest(line);
  if (!asked?.ok) return refused;
  const { op } = asked.request;
  const message = `"${op}" is asked of a terminal, and this is a run's socket`;
  return { code: "EACCES", message };
}

async function dispatch(
  request: CapabilityRequest,
  connection: Connection,
  { owner, onFault }: Served,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { request_id } = request;
  const line = (answer: Reply | Refusal) => encodeCapability({ ...answer, request_id });
  if (owner.kind === "terminal") {
    const { handlers } = owner.run;
    if (request.op === "tool.authorize") return line(await handlers.authorize(request));
    if (request.op === "tool.call") return line(await handlers.call(request, signal));
    return fail("EACCES", `"${request.op}" is asked of a run, and this is a terminal's socket`);
  }
  const { run } = owner;
  switch (request.op) {
    case "agent.update":
      requireOwn(request, run);
      return line(await run.handlers.update(request));
    case "tool.authorize":
      return line(await run.handlers.authorize(request));
    case "tool.call":
      return line(await run.handlers.call(request, signal));
    case "model.use": {
      const send = (text: string) => connection.send(text);
      const answer = new ModelAnswer({ request: request_id, run: run.run, send });
      try {
        const emit = answer.emit.bind(answer);
        answer.end(await run.handlers.useModel(request, emit, signal));
      } catch (error) {
        if (!answer.begun) throw error;
        if (!isCoded(error)) onFault(error);
        answer.fail(told(error));
      }
      return undefined;
    }
    default:
      return fail("EHOSTDOWN", `this host does not serve "${request.op}"`);
  }
}

/** An agent improves itself and nobody else. */
function requireOwn(request: UpdateRequest, run: OpenRun): void {
  for (const name of ["agent", "session", "run"] as const) {
    if (request[name] === run[name]) continue;
    fail("EACCES", `${name} ${JSON.stringify(request[name])} is not the ${name} of this run`);
  }
}
