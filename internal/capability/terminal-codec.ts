// A terminal's calls as lines and back. Never throws for a peer's mistake: it is a value.

import { type LineRefusal, member, refusal } from "../frame/mod.ts";
import { type Refused, usableId } from "./codec.ts";
import type { HostLine, ServeRequest, ShellLine, TerminalCallFrame } from "./terminal-frames.ts";
import { canonicalTerminalCall, type ReadTerminal, readTerminalCall } from "./terminal-judge.ts";
import { hostKinds, shellKinds, type TerminalKind } from "./terminal-shape.ts";

export type DecodedServe = { readonly ok: true; readonly request: ServeRequest } | Refused;

export type DecodedLine<T> = { readonly ok: true; readonly frame: T } | LineRefusal;

/**
 * For the host: the request by which a connection becomes one of calls, or why it is refused; undefined
 * for a line that is another request. A line without its LF.
 */
export function decodeServeRequest(line: string): DecodedServe | undefined {
  const read = readTerminalCall(line);
  if (read.ok) {
    if (read.kind !== "terminal.serve") return undefined;
    return { ok: true, request: read.value as unknown as ServeRequest };
  }
  const { refusal: wrong, given } = read;
  if (given === undefined || member(given, "op") !== "terminal.serve") return undefined;
  const { code, path, message } = wrong;
  return { ok: false, code, path, message, request_id: usableId(member(given, "request_id")) };
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
  if (!read.ok) return read.refusal;
  return refusal("schema", "/type", `line "${read.kind}" is the other side's`);
}
