// The stream in which the owner of a terminal hands what happened to whoever keeps it: frames with
// bytes as they are, so that the terminal's own process pays for no encoding. Numbers are given by
// the one who writes the log; what did not fit the way there is told as a gap.

import { FrameCutter, frameHeaderBytes } from "./frame-cutter.ts";

/** Payload of one frame of the stream. Past it the stream counts as damaged. */
export const recordFrameBytesMax = 1024 * 1024;

/** Something that happened in the terminal, before it has a number; `at` is in ms since the epoch. */
export type TerminalDraft =
  | { readonly type: "pty.output"; readonly at: number; readonly data: Uint8Array }
  | {
      readonly type: "pty.resize";
      readonly at: number;
      readonly cols: number;
      readonly rows: number;
    }
  | {
      readonly type: "process.exit";
      readonly at: number;
      /** As of a shell, 128 and the number for a signal. */
      readonly status: number;
      /** 0 when it ended by itself. */
      readonly signal: number;
    }
  | {
      readonly type: "gap";
      readonly at: number;
      /** Bytes of output that are missing here. */
      readonly bytes: number;
      readonly reason: string;
    };

export type DraftResult =
  | { readonly ok: true; readonly draft: TerminalDraft }
  | { readonly ok: false; readonly reason: string };

const types = ["pty.output", "pty.resize", "process.exit", "gap"] as const;

/** The draft as one frame; output is to be cut to `recordFrameBytesMax` less 8 before. */
export function encodeDraft(draft: TerminalDraft): Uint8Array {
  const body = bodyOf(draft);
  const bytes = new Uint8Array(frameHeaderBytes + 8 + body.length);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, types.indexOf(draft.type) + 1);
  view.setUint32(1, 8 + body.length);
  view.setFloat64(frameHeaderBytes, draft.at);
  bytes.set(body, frameHeaderBytes + 8);
  return bytes;
}

function bodyOf(draft: TerminalDraft): Uint8Array {
  if (draft.type === "pty.output") return draft.data;
  const view = new DataView(new ArrayBuffer(8));
  if (draft.type === "pty.resize") {
    view.setUint32(0, draft.cols);
    view.setUint32(4, draft.rows);
  } else if (draft.type === "process.exit") {
    view.setInt32(0, draft.status);
    view.setUint32(4, draft.signal);
  } else {
    view.setFloat64(0, draft.bytes);
    const reason = new TextEncoder().encode(draft.reason);
    const body = new Uint8Array(8 + reason.length);
    body.set(new Uint8Array(view.buffer));
    body.set(reason, 8);
    return body;
  }
  return new Uint8Array(view.buffer);
}

/** Reads such a stream; after a failure it yields nothing more. */
export class DraftDecoder {
  readonly #cutter = new FrameCutter(recordFrameBytesMax);

  push(chunk: Uint8Array): DraftResult[] {
    const results: DraftResult[] = [];
    for (const cut of this.#cutter.push(chunk)) {
      const draft = "reason" in cut ? cut.reason : readDraft(cut.type, cut.payload);
      if (typeof draft !== "string") {
        results.push({ ok: true, draft });
        continue;
      }
      results.push({ ok: false, reason: draft });
      this.#cutter.fail();
    }
    return results;
  }
}

function readDraft(number: number, payload: Uint8Array): TerminalDraft | string {
  const type = types[number - 1];
  if (type === undefined) return `record of unknown type ${number}`;
  if (payload.length < (type === "pty.output" ? 8 : 16)) return `"${type}" record is cut short`;
  const view = new DataView(payload.buffer, payload.byteOffset, payload.length);
  const at = view.getFloat64(0);
  if (type === "pty.output") return { type, at, data: payload.subarray(8) };
  if (type === "pty.resize") return { type, at, cols: view.getUint32(8), rows: view.getUint32(12) };
  if (type === "process.exit") {
    return { type, at, status: view.getInt32(8), signal: view.getUint32(12) };
  }
  const reason = new TextDecoder().decode(payload.subarray(16));
  return { type, at, bytes: view.getFloat64(8), reason };
}
