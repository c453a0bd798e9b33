// What a terminal is asked and a run is not: words about what its session has loaded, and the connection
// by which its shell serves calls: one request, its answer, and from then on lines both ways that are no
// requests. Each line's peer is judged like that of a request.

import { isCoded } from "../abi/mod.ts";
import {
  type DecodedTerminalRequest,
  decodeShellLine,
  decodeTerminalRequest,
  encodeCapability,
  encodeTerminalCall,
  type TerminalRequest,
} from "../capability/mod.ts";
import type { Connection } from "../sock/mod.ts";
import type { RunPeer } from "./peer.ts";
import { refusalLine, told } from "./refusal.ts";
import type { Served } from "./serve.ts";
import type { ServingShell, ShellListener, TerminalSocketHandlers } from "./types.ts";

interface Asker {
  readonly connection: Connection;
  readonly served: Served;
  /** Aborted when the connection is over. */
  readonly gone: AbortSignal;
}

/**
 * Undefined for a line that asks something else, or is not said to a terminal; else its answer, or who
 * listens from now on.
 */
export function answerTerminal(
  line: string,
  asker: Asker,
): Promise<string | ShellListener> | undefined {
  const { owner } = asker.served;
  if (owner.kind !== "terminal") return undefined;
  const decoded = decodeTerminalRequest(line);
  return decoded && answered(decoded, asker, owner.run.handlers);
}

async function answered(
  decoded: DecodedTerminalRequest,
  asker: Asker,
  handlers: TerminalSocketHandlers,
): Promise<string | ShellListener> {
  const { attempts, onFault } = asker.served;
  const id = decoded.ok ? decoded.request.request_id : decoded.request_id;
  try {
    if (id !== null) attempts.consume(id);
    if (!decoded.ok) return refusalLine(id, decoded);
    return await dispatch(decoded.request, asker, handlers);
  } catch (error) {
    if (!isCoded(error)) onFault(error);
    return refusalLine(id, told(error));
  }
}

async function dispatch(
  request: TerminalRequest,
  { connection, served, gone }: Asker,
  handlers: TerminalSocketHandlers,
): Promise<string | ShellListener> {
  const { request_id } = request;
  if (request.op === "tsh") {
    const text = await served.attempts.serve(() => handlers.word(request, gone));
    return encodeTerminalCall({ request_id, ok: true, text });
  }
  const listener = handlers.serve(shellOf(connection));
  // The answer is the first line, whatever the listener begins with.
  connection.send(encodeCapability({ request_id, ok: true }));
  return listener;
}

function shellOf(connection: Connection): ServingShell {
  return {
    send: (line) => connection.send(encodeTerminalCall(line)),
    cut(because) {
      connection.send(refusalLine(null, { code: "EINVAL", message: because }));
      connection.destroy();
    },
  };
}

/** Resolves when the connection is over. Throws EACCES for a peer that is none any more. */
export async function serveCalls(
  listener: ShellListener,
  { connection, peer, served }: { connection: Connection; peer: RunPeer; served: Served },
): Promise<void> {
  try {
    listener.begun();
    for await (const line of connection) {
      await served.turns.take(served);
      if (served.over.aborted) return;
      peer.check(served.owner.run.peerUid, served.roots());
      const decoded = line.ok ? decodeShellLine(line.line) : undefined;
      if (decoded?.ok) {
        listener.line(decoded.frame);
        continue;
      }
      const code = line.ok ? "EINVAL" : line.code;
      const message = line.ok ? (decoded?.message ?? "") : line.reason;
      connection.send(refusalLine(null, { code, message }));
      return;
    }
  } finally {
    listener.left();
  }
}
