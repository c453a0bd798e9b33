// Interaction v1 on a connection: one request in its envelope, its events in the same, and beside them
// only the answers to commands. A command stands for a call that waits for its approval.

import type { Code } from "../abi/mod.ts";
import type { OpRequest, SessionFrame } from "../interaction/mod.ts";
import { decodeV1Line, V1Encoder, type V1Request, type V1Result } from "../wire/mod.ts";
import type { AgentWire, Asked } from "./agent-wire.ts";
import type { Opening } from "./open-wire.ts";

/** Commands of a connection that an answer may still name. Past it the oldest is forgotten. */
const commandsMax = 64;

/** A v1 error for a line that is of no known version. */
export function v1Error(code: Code, message: string): string {
  return new V1Encoder(undefined, undefined).error(code, message);
}

/** What the first line of a v1 connection asks. */
export function openV1(line: string): Opening {
  const decoded = decodeV1Line(line);
  if (!decoded.ok) {
    const { code, path, message, requestId } = decoded;
    return {
      wire: new V1Wire(requestId, undefined),
      asked: { ok: false, code, message: at(path, message) },
    };
  }
  const { request } = decoded;
  const wire = new V1Wire(request.requestId, request.session);
  if (request.kind === "ask") return { wire, asked: { ok: true, request: request.request } };
  const message = `command ${JSON.stringify(request.commandId)} is not of this connection`;
  return { wire, asked: { ok: false, code: "EINVAL", message } };
}

type CommandResult = Extract<V1Request, { kind: "command_result" }>;
type Command = Extract<SessionFrame, { type: "approval_request" }>;

class V1Wire implements AgentWire {
  readonly #encoder: V1Encoder;
  readonly #session: string | undefined;
  readonly #commands = new Map<string, Command>();

  constructor(requestId: string | undefined, session: string | undefined) {
    this.#encoder = new V1Encoder(requestId, session);
    this.#session = session;
  }

  decodeBeside(line: string): Asked {
    const decoded = decodeV1Line(line);
    if (!decoded.ok) {
      return { ok: false, code: decoded.code, message: at(decoded.path, decoded.message) };
    }
    const { request } = decoded;
    if (request.kind !== "command_result") {
      const message = "a v1 connection carries one request and the results of its commands";
      return { ok: false, code: "EINVAL", message };
    }
    const command = this.#commands.get(request.commandId);
    if (command === undefined || request.session !== this.#session) {
      const message = `command ${JSON.stringify(request.commandId)} is not of this connection`;
      return { ok: false, code: "EINVAL", message };
    }
    return { ok: true, request: answerTo(command, request) };
  }

  encode(frame: SessionFrame): string {
    if (frame.type === "approval_request") this.#remember(frame);
    return this.#encoder.encode(frame);
  }

  error(code: Code, message: string): string {
    return this.#encoder.error(code, message);
  }

  #remember(command: Command): void {
    this.#commands.set(command.id, command);
    for (const oldest of this.#commands.keys()) {
      if (this.#commands.size <= commandsMax) break;
      this.#commands.delete(oldest);
    }
  }
}

function answerTo({ run, id, digest }: Command, { result }: CommandResult): OpRequest {
  const decision = result.type === "accepted" ? "allow_once" : "deny";
  return { op: "approve", run, id, decision, reason: reasonOf(result), digest };
}

function reasonOf(result: V1Result): string | undefined {
  if (result.type === "rejected") return result.reason;
  return result.type === "value" ? "a value is no answer to a request for approval" : undefined;
}

function at(path: string, message: string): string {
  return path === "" ? message : `${message} (at ${path})`;
}
