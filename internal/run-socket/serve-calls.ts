// The connection by which a terminal's shell serves calls: one request, its answer, and from then on lines
// both ways that are no requests. Each line's peer is judged like that of a request.

import { isCoded } from "../abi/mod.ts";
import {
  decodeServeRequest,
  decodeShellLine,
  encodeCapability,
  encodeTerminalCall,
} from "../capability/mod.ts";
import type { Connection } from "../sock/mod.ts";
import type { RunPeer } from "./peer.ts";
import { refusalLine, told } from "./refusal.ts";
import type { Served } from "./serve.ts";
import type { ServingShell, ShellListener } from "./types.ts";

/**
 * Undefined for a line that is no offer to serve, or not said to a terminal; else the answer that
 * refuses it, or who listens from now on.
 */
export function callsBegun(
  line: string,
  connection: Connection,
  { owner, attempts, onFault }: Served,
): string | ShellListener | undefined {
  if (owner.kind !== "terminal") return undefined;
  const decoded = decodeServeRequest(line);
  if (decoded === undefined) return undefined;
  const id = decoded.ok ? decoded.request.request_id : decoded.request_id;
  try {
    if (id !== null) attempts.consume(id);
    if (!decoded.ok) return refusalLine(id, decoded);
    const listener = owner.run.handlers.serve(shellOf(connection));
    // The answer is the first line, whatever the listener begins with.
    connection.send(encodeCapability({ request_id: decoded.request.request_id, ok: true }));
    return listener;
  } catch (error) {
    if (!isCoded(error)) onFault(error);
    return refusalLine(id, told(error));
  }
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
