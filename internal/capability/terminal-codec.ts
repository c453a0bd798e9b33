// A terminal's calls as lines and back. Never throws for a peer's mistake: it is a value.

import { type LineRefusal, member, refusal } from "../frame/mod.ts";
import { type Refused, usableId } from "./codec.ts";
import type {
  HostLine,
  ShellLine,
  TerminalCallFrame,
  TerminalRequest,
  WordAnswer,
} from "./terminal-frames.ts";
import { canonicalTerminalCall, type ReadTerminal, readTerminalCall } from "./terminal-judge.ts";
import { hostKinds, requestKinds, shellKinds, type TerminalKind } from "./terminal-shape.ts";

export type DecodedTerminalRequest =
  | { readonly ok: true; readonly request: TerminalRequest }
  | Refused;

export type DecodedLine<T> = { readonly ok: true; readonly frame: T } | LineRefusal;

/**
 * For the host: what is asked of a terminal alone, or why it is refused; undefined for a line that is
 * another request. A line without its LF.
 */
export function decodeTerminalRequest(line: string): DecodedTerminalRequest | undefined {
  const read = readTerminalCall(line);
  if (read.ok) {
    if (!isRequest(read.kind)) return undefined;
    return { ok: true, request: read.value as unknown as TerminalRequest };
  }
  const { refusal: wrong, given } = read;
  if (given === undefined || !isRequest(member(given, "op"))) return undefined;
  const { code, path, message } = wrong;
  return { ok: false, code, path, message, request_id: usableId(member(given, "request_id")) };
}

const isRequest = (kind: unknown) => requestKinds.some((one) => one === kind);

/** For the shell that asked: a line without its LF. */
export function decodeWordAnswer(line: string): DecodedLine<WordAnswer> {
  return decoded<WordAnswer>(readTerminalCall(line), ["answer"]);
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
