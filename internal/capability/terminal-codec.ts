// A terminal's calls as lines and back. Never throws for a peer's mistake: it is a value.

import { type LineRefusal, member, refusal } from "../frame/mod.ts";
import { type Refused, usableId } from "./codec.ts";
import type { HostLine, ServeRequest, ShellLine, TerminalCallFrame } from "./terminal-frames.ts";
import { canonicalTerminalCall, type ReadTerminal, readTerminalCall } from "./terminal-judge.ts";
import { hostKinds, shellKinds, type TerminalKind } from "./terminal-shape.ts";

export type DecodedServe = { readonly ok: true; readonly request: ServeRequest } | Refused;

export type DecodedLine<T> = { readonly ok: true; readonly frame: T } | LineRefusal;

/** For the host: the request by which a connection becomes one of calls. A line without its LF. */
export function decodeServeRequest(line: string): DecodedServe {
  const read = readTerminalCall(line);
  if (read.ok && read.kind === "terminal.serve") {
    return { ok: true, request: read.value as unknown as ServeRequest };
  }
  const { code, path, message } = wrongOf(read, "/op");
  const given = read.ok ? read.value : read.given;
  const id = given === undefined ? undefined : member(given, "request_id");
  return { ok: false, code, path, message, request_id: usableId(id) };
}

/** For the serving shell: a line without its LF. A later host may say what it does not know. */
export function decodeHostLine(line: string): DecodedLine<HostLine> {
  return decoded<HostLine>(readTerminalCall(line), hostKinds);
}

/** For the host: a line without its LF. */
export function decodeShellLine(line: string): DecodedLine<ShellLine> {
  return decoded<ShellLine>(readTerminalCall(line), shellKinds);
}

/** One line with its LF, members in canonical order. Throws when no peer would accept it. */
export function encodeTerminalCall(frame: TerminalCallFrame): string {
  return canonicalTerminalCall(JSON.stringify(frame));
}

function decoded<T>(read: ReadTerminal, kinds: readonly TerminalKind[]): DecodedLine<T> {
  if (read.ok && kinds.includes(read.kind)) return { ok: true, frame: read.value as unknown as T };
  return wrongOf(read, "/type");
}

function wrongOf(read: ReadTerminal, path: "/op" | "/type"): LineRefusal {
  if (!read.ok) return read.refusal;
  return refusal("schema", path, `line "${read.kind}" is the other side's`);
}
