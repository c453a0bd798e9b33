// The one error type that crosses module borders. Its message is prose for a person without the
// code, the code is for programs, and `hint` is what to do next where there is something to do.

import { type Code, codes } from "./codes.ts";

/** A place in a text file; line and column count from 1, columns in UTF-16 units. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface ErrorDetail {
  /** What the person can do about it; a full clause without a final period. */
  readonly hint?: string;
  readonly place?: Place;
  readonly cause?: unknown;
}

export class CodedError extends Error {
  readonly code: Code;
  readonly hint: string | undefined;
  readonly place: Place | undefined;

  constructor(code: Code, message: string, detail: ErrorDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.name = "CodedError";
    this.code = code;
    this.hint = detail.hint;
    this.place = detail.place;
  }
}

/** Throws a coded error. Typed `never` so that callers may use it as an expression. */
export function fail(code: Code, message: string, detail?: ErrorDetail): never {
  throw new CodedError(code, message, detail);
}

/** By shape and not by class: a compiled program may hold this module more than once. */
export function isCoded(thrown: unknown): thrown is CodedError {
  return thrown instanceof Error && thrown.name === "CodedError" && "code" in thrown;
}

/**
 * Turns anything thrown into a coded error. Errno names that the table holds are kept, a few are
 * folded onto their nearest code (EPERM to EACCES, EDQUOT to ENOSPC, …), the rest is EIO. The errno
 * name in front of a system call's message goes, because every report ends with the code.
 */
export function coded(thrown: unknown): CodedError {
  if (isCoded(thrown)) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const name = (thrown as { code?: unknown } | null | undefined)?.code;
  if (typeof name !== "string") return new CodedError("EIO", message, { cause: thrown });
  const prose = message.startsWith(`${name}: `) ? message.slice(name.length + 2) : message;
  return new CodedError(foldErrno(name), prose, { cause: thrown });
}

/** The nearest code of the closed table for an errno name. */
export function foldErrno(name: string): Code {
  if (Object.hasOwn(codes, name)) return name as Code;
  const folded: Readonly<Record<string, Code>> = {
    EPERM: "EACCES",
    EDQUOT: "ENOSPC",
    EFBIG: "ENOSPC",
    ELOOP: "EACCES",
    EXDEV: "EACCES",
    ENOTDIR: "ENOENT",
    EISDIR: "EINVAL",
    ENAMETOOLONG: "EINVAL",
    ECONNREFUSED: "EHOSTDOWN",
    ECONNRESET: "EHOSTDOWN",
    EPIPE: "EHOSTDOWN",
    EAGAIN: "busy",
    EMFILE: "busy",
    ENFILE: "busy",
    ENOMEM: "busy",
  };
  return Object.hasOwn(folded, name) ? (folded[name] ?? "EIO") : "EIO";
}
