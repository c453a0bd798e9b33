// What a `ctxd launch` and its server tell each other over launch.sock, one JSON object a line. The
// ticket only says which launch it is; that it may have the plan is what the kernel says of its uid.

import { type Code, CodedError, isCode, opLineBytesMax } from "../abi/mod.ts";
import { terminalPlanVersion } from "../launch/mod.ts";
import type { ProcessStamp } from "../os/mod.ts";

/** Name of the socket in a tree's runtime folder. */
export const launchSocketName = "launch.sock";

/** A line of either side; a plan is the longest. Past it the connection ends. */
export const launchLineBytesMax = opLineBytesMax;

/** From the launch. */
export type LaunchSays =
  /** The first line: give me my plan, or, to a server that came later, here I am. */
  | { readonly type: "hello" | "again"; readonly version: number; readonly ticket: string }
  /** The sandbox stands and waits for `go`. */
  | { readonly type: "standing"; readonly root: ProcessStamp; readonly init: ProcessStamp }
  /** The socket answers. */
  | { readonly type: "answers" }
  /** Its program has ended, so it is no terminal to join any more; what is left of it ends now. */
  | { readonly type: "ending" }
  | { readonly type: "ended"; readonly status: number; readonly signal?: number }
  /** Nothing came of it and nothing is left. */
  | {
      readonly type: "failed";
      readonly code: Code;
      readonly message: string;
      readonly hint?: string;
    };

/** From the server. `go` opens the gate: the receipt names the processes now. */
export type ServerSays =
  | {
      readonly type: "plan";
      /** What `encodeTerminalPlan` made. */
      readonly plan: unknown;
      /** Host folder that the listening socket is made in. */
      readonly socketFolder: string;
      /** Host folder of the resource files. */
      readonly resource: string;
    }
  | { readonly type: "go" }
  | { readonly type: "refused"; readonly message: string };

export function encodeLine(message: LaunchSays | ServerSays): string {
  return `${JSON.stringify(message)}\n`;
}

/** Undefined for a line that is none; the launch may be anybody of its uid. */
export function decodeLaunchLine(line: string): LaunchSays | undefined {
  const fields = objectOf(line);
  switch (fields?.["type"]) {
    case "hello":
    case "again": {
      const { type, version, ticket } = fields;
      if (typeof ticket !== "string" || typeof version !== "number") return undefined;
      return { type, version, ticket };
    }
    case "standing": {
      const { root, init } = fields;
      return isStamp(root) && isStamp(init) ? { type: "standing", root, init } : undefined;
    }
    case "answers":
    case "ending":
      return { type: fields["type"] };
    case "ended": {
      const { status, signal } = fields;
      if (!isByte(status)) return undefined;
      return { type: "ended", status, ...(isByte(signal) && signal > 0 ? { signal } : {}) };
    }
    case "failed": {
      const { code, message, hint } = fields;
      if (typeof code !== "string" || !isCode(code) || typeof message !== "string")
        return undefined;
      return { type: "failed", code, message, ...(typeof hint === "string" ? { hint } : {}) };
    }
    default:
      return undefined;
  }
}

/** What a server says is taken as it is: its uid was checked. */
export function decodeServerLine(line: string): ServerSays | undefined {
  const fields = objectOf(line);
  const known = ["plan", "go", "refused"].includes(String(fields?.["type"]));
  return known ? (fields as unknown as ServerSays) : undefined;
}

export function isSameVersion(version: number): boolean {
  return version === terminalPlanVersion;
}

function objectOf(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}

function isStamp(value: unknown): value is ProcessStamp {
  if (typeof value !== "object" || value === null) return false;
  const { pid, startTime } = value as Readonly<Record<string, unknown>>;
  return (
    Number.isSafeInteger(pid) &&
    Number(pid) > 1 &&
    typeof startTime === "string" &&
    /^[0-9]{1,20}$/.test(startTime)
  );
}

function isByte(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 255;
}

/** What a launch says of its failure, as an error. */
export function codedOf(failed: Extract<LaunchSays, { type: "failed" }>): CodedError {
  const { code, message, hint } = failed;
  return new CodedError(code, message, hint === undefined ? {} : { hint });
}
