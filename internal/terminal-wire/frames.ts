// The framed form of a terminal connection: a byte that names the type, the payload's length as a
// big-endian u32, the payload. Data and snapshots are a terminal's bytes as they are. Only clients
// ask with a ping; a server echoes it and sends none of its own. A server's frame of an unknown type
// is skipped, so that later versions may add some; a client's is a mistake.

import { type Code, isCode } from "../abi/mod.ts";
import { FrameCutter, frameHeaderBytes } from "./frame-cutter.ts";

/** Payload of one frame of a server. Past it the client drops the connection. */
export const terminalServerFrameBytesMax = 1024 * 1024;

/** Payload of one frame of a client. Past it EINVAL and the client is dropped. */
export const terminalClientFrameBytesMax = 64 * 1024;

/** Payload of a ping. Past it EINVAL. */
export const terminalPingBytesMax = 64;

/** Columns or rows that a client may ask for. Past it EINVAL; the emulator allocates every cell. */
export const terminalSizeMax = 1000;

interface DataFrame {
  readonly type: "data";
  readonly data: Uint8Array;
}

interface ResizeFrame {
  readonly type: "resize";
  readonly cols: number;
  readonly rows: number;
}

interface PingFrame {
  readonly type: "ping";
  readonly data: Uint8Array;
}

/** VT bytes that make the screen anew on any terminal of that size, whatever it showed before. */
export interface SnapshotFrame {
  readonly type: "snapshot";
  /** True when output was skipped: right again after the next full redraw or reset. */
  readonly approximate: boolean;
  readonly cols: number;
  readonly rows: number;
  readonly data: Uint8Array;
}

export interface ExitFrame {
  readonly type: "exit";
  /** As of a shell: 0 to 255, 128 and the signal's number for a signal. */
  readonly status: number;
  /** 0 when it ended by itself. */
  readonly signal: number;
}

export interface ErrorFrame {
  readonly type: "error";
  readonly code: Code;
  readonly message: string;
}

export type TerminalServerFrame =
  | DataFrame
  | SnapshotFrame
  | ResizeFrame
  | ExitFrame
  | ErrorFrame
  | PingFrame;

export type TerminalClientFrame = DataFrame | ResizeFrame | PingFrame;

export type TerminalFrameResult<Frame> =
  | { readonly ok: true; readonly frame: Frame }
  | { readonly ok: false; readonly reason: string };

const code = (letter: string): number => letter.charCodeAt(0);
const types = {
  data: code("D"),
  snapshot: code("S"),
  resize: code("R"),
  exit: code("X"),
  error: code("E"),
  ping: code("P"),
} as const;

/** Header alone, for data that goes out in a buffer of its own. */
export function terminalFrameHeader(type: keyof typeof types, length: number): Uint8Array {
  const header = new Uint8Array(frameHeaderBytes);
  header[0] = types[type];
  new DataView(header.buffer).setUint32(1, length);
  return header;
}

export function encodeTerminalFrame(frame: TerminalServerFrame | TerminalClientFrame): Uint8Array {
  const payload = payloadOf(frame);
  const bytes = new Uint8Array(frameHeaderBytes + payload.length);
  bytes.set(terminalFrameHeader(frame.type, payload.length));
  bytes.set(payload, frameHeaderBytes);
  return bytes;
}

function payloadOf(frame: TerminalServerFrame): Uint8Array {
  if (frame.type === "data" || frame.type === "ping") return frame.data;
  if (frame.type === "error") {
    const { code: name, message } = frame;
    return new TextEncoder().encode(JSON.stringify({ code: name, message }));
  }
  const head = new DataView(new ArrayBuffer(5));
  if (frame.type === "exit") {
    head.setInt32(0, frame.status);
    head.setUint8(4, frame.signal);
    return new Uint8Array(head.buffer);
  }
  if (frame.type === "resize") {
    head.setUint16(0, frame.cols);
    head.setUint16(2, frame.rows);
    return new Uint8Array(head.buffer, 0, 4);
  }
  head.setUint8(0, frame.approximate ? 1 : 0);
  head.setUint16(1, frame.cols);
  head.setUint16(3, frame.rows);
  const payload = new Uint8Array(5 + frame.data.length);
  payload.set(new Uint8Array(head.buffer));
  payload.set(frame.data, 5);
  return payload;
}

/** Decodes what a server sends. `bytesMax` bounds one payload. */
export class TerminalFrameDecoder {
  readonly #cutter: FrameCutter;

  constructor(bytesMax: number = terminalServerFrameBytesMax) {
    this.#cutter = new FrameCutter(bytesMax);
  }

  /** The frames that `chunk` completes; their data shares memory with the chunks. */
  push(chunk: Uint8Array): TerminalFrameResult<TerminalServerFrame>[] {
    return decodeAll(this.#cutter, chunk, readServerFrame);
  }
}

/** Decodes what a client sends. */
export class TerminalClientDecoder {
  readonly #cutter = new FrameCutter(terminalClientFrameBytesMax);

  push(chunk: Uint8Array): TerminalFrameResult<TerminalClientFrame>[] {
    return decodeAll(this.#cutter, chunk, readClientFrame);
  }
}

/** A frame, a reason why it is none, or undefined for one to skip. */
type Read<Frame> = Frame | string | undefined;

function decodeAll<Frame>(
  cutter: FrameCutter,
  chunk: Uint8Array,
  read: (type: number, payload: Uint8Array) => Read<Frame>,
): TerminalFrameResult<Frame>[] {
  const results: TerminalFrameResult<Frame>[] = [];
  for (const cut of cutter.push(chunk)) {
    const frame = "reason" in cut ? cut.reason : read(cut.type, cut.payload);
    if (frame === undefined) continue;
    if (typeof frame !== "string") {
      results.push({ ok: true, frame });
      continue;
    }
    results.push({ ok: false, reason: frame });
    cutter.fail();
  }
  return results;
}

function readClientFrame(type: number, payload: Uint8Array): Read<TerminalClientFrame> {
  if (type === types.data) return { type: "data", data: payload };
  if (type === types.ping) return readPing(payload);
  if (type !== types.resize) return `a client sends no frame of type ${type}`;
  const frame = readResize(payload);
  if (typeof frame === "string") return frame;
  const fits = (size: number) => size >= 1 && size <= terminalSizeMax;
  if (fits(frame.cols) && fits(frame.rows)) return frame;
  return `size ${frame.cols}x${frame.rows} is not within 1 to ${terminalSizeMax}`;
}

function readServerFrame(type: number, payload: Uint8Array): Read<TerminalServerFrame> {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.length);
  if (type === types.data) return { type: "data", data: payload };
  if (type === types.ping) return readPing(payload);
  if (type === types.resize) return readResize(payload);
  if (type === types.exit) {
    if (payload.length !== 5) return `exit frame has ${payload.length} bytes in place of 5`;
    return { type: "exit", status: view.getInt32(0), signal: view.getUint8(4) };
  }
  if (type === types.snapshot) {
    if (payload.length < 5) return `snapshot frame has ${payload.length} bytes`;
    return {
      type: "snapshot",
      approximate: (view.getUint8(0) & 1) === 1,
      cols: view.getUint16(1),
      rows: view.getUint16(3),
      data: payload.subarray(5),
    };
  }
  return type === types.error ? readError(payload) : undefined;
}

function readPing(payload: Uint8Array): Read<PingFrame> {
  if (payload.length > terminalPingBytesMax) return `ping of ${payload.length} bytes`;
  return { type: "ping", data: payload };
}

function readResize(payload: Uint8Array): ResizeFrame | string {
  if (payload.length !== 4) return `resize frame has ${payload.length} bytes in place of 4`;
  const view = new DataView(payload.buffer, payload.byteOffset, 4);
  return { type: "resize", cols: view.getUint16(0), rows: view.getUint16(2) };
}

function readError(payload: Uint8Array): Read<ErrorFrame> {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(payload);
    const value = JSON.parse(text) as { code?: unknown; message?: unknown } | null;
    const { code: name, message } = value ?? {};
    if (typeof name === "string" && typeof message === "string") {
      // A code of a later version is shown with its message and counts as a failure of the service.
      return { type: "error", code: isCode(name) ? name : "EIO", message };
    }
  } catch {}
  return "error frame holds no code and message";
}
