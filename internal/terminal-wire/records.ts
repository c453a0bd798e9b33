// The lines of a terminal's events.jsonl. Each has a number, from 1 by one over all segments, and a
// time. Records of unknown types belong to later versions and are passed over, not refused.

import type { TerminalDraft } from "./record-stream.ts";

interface Numbered {
  readonly seq: number;
  /** RFC 3339, UTC, milliseconds. */
  readonly ts: string;
}

export interface OutputRecord extends Numbered {
  readonly type: "pty.output";
  /** Base64. */
  readonly data: string;
}

export interface ResizeRecord extends Numbered {
  readonly type: "pty.resize";
  readonly cols: number;
  readonly rows: number;
}

export interface ExitRecord extends Numbered {
  readonly type: "process.exit";
  /** As of a shell: 0 to 255, 128 and the signal's number for a signal. */
  readonly status: number;
  /** Absent when it ended by itself. */
  readonly signal?: number;
}

export interface GapRecord extends Numbered {
  readonly type: "gap";
  /** Bytes of output that are missing before the next record. */
  readonly bytes: number;
  /** `overrun`: the recorder was slower than the terminal; `rotated`: an old segment was removed. */
  readonly reason: string;
}

export type TerminalRecord = OutputRecord | ResizeRecord | ExitRecord | GapRecord;

export type RecordResult =
  | { readonly ok: true; readonly record: TerminalRecord }
  | { readonly ok: false; readonly why: "unknown_type"; readonly type: string }
  | { readonly ok: false; readonly why: "invalid"; readonly reason: string };

/** The draft as a line of the log, newline included. */
export function encodeRecord(draft: TerminalDraft, seq: number): string {
  const head = { type: draft.type, seq, ts: new Date(draft.at).toISOString() };
  return `${JSON.stringify({ ...head, ...fieldsOf(draft) })}\n`;
}

function fieldsOf(draft: TerminalDraft): object {
  if (draft.type === "pty.output") return { data: draft.data.toBase64() };
  if (draft.type === "pty.resize") return { cols: draft.cols, rows: draft.rows };
  if (draft.type === "gap") return { bytes: draft.bytes, reason: draft.reason };
  const { status, signal } = draft;
  return signal === 0 ? { status } : { status, signal };
}

/** One line without its newline. */
export function parseRecord(line: string): RecordResult {
  const invalid = (reason: string) => ({ ok: false, why: "invalid", reason }) as const;
  let value: Record<string, unknown> | null;
  try {
    value = JSON.parse(line) as Record<string, unknown> | null;
  } catch {
    return invalid("the line is not JSON");
  }
  if (typeof value !== "object" || value === null) return invalid("the line is no object");
  const { type, seq, ts } = value as { type?: unknown; seq?: unknown; ts?: unknown };
  if (typeof type !== "string") return invalid("a record has a type");
  if (!Number.isSafeInteger(seq) || (seq as number) < 1) return invalid("seq counts from 1");
  if (typeof ts !== "string" || Number.isNaN(Date.parse(ts))) return invalid("ts is no time");
  const fields = shapes[type];
  if (fields === undefined) return { ok: false, why: "unknown_type", type };
  const wrong = Object.entries(fields).find(([name, is]) => !is(value[name]));
  if (wrong !== undefined) return invalid(`"${wrong[0]}" of "${type}" is missing or wrong`);
  return { ok: true, record: value as unknown as TerminalRecord };
}

const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
const isText = (value: unknown) => typeof value === "string";

const shapes: Readonly<Record<string, Readonly<Record<string, (value: unknown) => boolean>>>> = {
  "pty.output": { data: isBase64 },
  "pty.resize": { cols: isCount, rows: isCount },
  "process.exit": { status: isCount, signal: (value) => value === undefined || isCount(value) },
  gap: { bytes: isCount, reason: isText },
};

function isBase64(value: unknown): boolean {
  return (
    typeof value === "string" && value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value)
  );
}

/** The bytes that an output record holds. */
export function outputBytes(record: OutputRecord): Uint8Array {
  return Uint8Array.fromBase64(record.data);
}
