// From one line of a v1 connection to its request, in neutral terms. Whatever is wrong with the line is
// a value; the identifier of the request comes along when the line has a usable one, so that the answer
// can name it.

import type { Code } from "../abi/mod.ts";
import { isJsonObject } from "../frame/mod.ts";
import type {
  CancelRequest,
  JsonObject,
  Origin,
  ResumeRequest,
  Scope,
  SendRequest,
  StatusRequest,
} from "../interaction/mod.ts";
import { type Fields, member } from "./examine.ts";
import { identifier } from "./op-fields.ts";
import { brokenRule } from "./op-rules.ts";
import { examineV1 } from "./v1-judge.ts";

export type V1Result =
  | { readonly type: "accepted" }
  | { readonly type: "rejected"; readonly reason: string }
  | { readonly type: "value"; readonly payload: unknown };

export type V1Request =
  | {
      readonly kind: "ask";
      readonly requestId: string;
      /** Undefined where the request names none: events of a cancel need none either. */
      readonly session: string | undefined;
      readonly request: SendRequest | ResumeRequest | StatusRequest | CancelRequest;
    }
  | {
      readonly kind: "command_result";
      readonly requestId: string;
      readonly session: string;
      readonly commandId: string;
      readonly result: V1Result;
    };

export type DecodedV1 =
  | { readonly ok: true; readonly request: V1Request }
  | {
      readonly ok: false;
      readonly code: Code;
      readonly path: string;
      readonly message: string;
      readonly requestId: string | undefined;
    };

/** Decodes one line without its LF. Never throws. */
export function decodeV1Line(line: string): DecodedV1 {
  const examined = examineV1(line);
  if (!examined.ok) {
    const { code, path, message } = examined;
    return { ok: false, code, path, message, requestId: usableRequestId(line) };
  }
  const { kind, value } = examined;
  const request = requestOf(kind, value);
  if (request !== undefined) return { ok: true, request };
  const message = `event "${kind}" is what a server sends`;
  return {
    ok: false,
    code: "EINVAL",
    path: "/payload/direction",
    message,
    requestId: usableRequestId(line),
  };
}

function requestOf(kind: string, value: Fields): V1Request | undefined {
  const requestId = value["request_id"] as string;
  const session = value["session"] as string;
  switch (kind) {
    case "input":
      return { kind: "ask", requestId, session, request: sendOf(requestId, session, value) };
    case "resume": {
      const after = value["after"] === undefined ? undefined : String(value["after"]);
      const request: ResumeRequest = { op: "resume", session, scope: scopeOf(value), after };
      return { kind: "ask", requestId, session, request };
    }
    case "status_request": {
      const request: StatusRequest = { op: "status", session, scope: scopeOf(value) };
      return { kind: "ask", requestId, session, request };
    }
    case "cancel": {
      const request: CancelRequest = { op: "cancel", id: value["run"] as string };
      return { kind: "ask", requestId, session: undefined, request };
    }
    case "command_result": {
      const result = value["result"] as V1Result;
      return { kind, requestId, session, commandId: value["command_id"] as string, result };
    }
    default:
      return undefined;
  }
}

function sendOf(id: string, session: string, value: Fields): SendRequest {
  const event = value["event"] as JsonObject | undefined;
  return {
    op: "send",
    id,
    session,
    scope: scopeOf(value),
    input: value["input"] as string,
    cwd: value["cwd"] as string | undefined,
    workspace: value["workspace"] as string | undefined,
    origin: present(value["origin"] as Fields) as unknown as Origin,
    ...(event === undefined ? {} : { event }),
  };
}

function scopeOf(value: Fields): Scope {
  const kind = (value["scope"] ?? "private") as Scope["kind"];
  return kind === "shared" ? { kind, space: value["shared"] as string } : { kind };
}

function present(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function usableRequestId(line: string): string | undefined {
  let here: unknown;
  try {
    here = JSON.parse(line);
  } catch {
    return undefined;
  }
  for (const name of ["payload", "value", "request_id"]) {
    here = isJsonObject(here) ? member(here, name) : undefined;
  }
  const parsed = identifier.safeParse(here);
  if (!parsed.success) return undefined;
  const broken = brokenRule({ id: parsed.data }, { "/id": "identifier" }, "");
  return broken === undefined ? parsed.data : undefined;
}
