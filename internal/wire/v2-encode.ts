// From a v2 frame to its line. The wire form goes through the same checks as a line that comes in, so
// that no frame leaves which a peer would have to refuse; its keys stand in canonical order, so that
// the same frame is always the same bytes.

import { fail } from "../abi/mod.ts";
import { type Checked, checkLine, checkValue } from "./v2-decode.ts";
import { v2Abi, v2LineBytesMax } from "./v2-fields.ts";
import type { V2Frame } from "./v2-frame.ts";
import { correlationNames } from "./v2-kinds.ts";
import { bytesExceed } from "./v2-rules.ts";

/** One line with its LF. Throws EMSGSIZE past the bound of a frame and EINVAL for a wrong frame. */
export function encodeV2Frame(frame: V2Frame): string {
  return write(checkValue(unfold(frame), true));
}

/** The bytes that the frame on this line has when it is encoded again. Throws what refuses it. */
export function canonicalV2(line: string): string {
  return write(checkLine(line));
}

function write(checked: Checked): string {
  if (!checked.ok) return fail(checked.refusal.code, checked.refusal.message);
  const line = JSON.stringify(checked.frame);
  if (!bytesExceed(line, v2LineBytesMax - 1)) return `${line}\n`;
  return fail("EMSGSIZE", `frame has more than ${v2LineBytesMax} bytes with its newline`);
}

function unfold(frame: V2Frame): object {
  const flat: Readonly<Record<string, unknown>> = { ...frame };
  const correlation: Record<string, unknown> = {};
  for (const name of correlationNames) correlation[name] = flat[name] ?? null;
  const sequence = flat["session_seq"] ?? null;
  return {
    abi: v2Abi,
    correlation,
    session_seq: sequence,
    event: {
      side: frame.side,
      kind: frame.kind,
      capabilities: flat["capabilities"] ?? [],
      mode: flat["mode"] ?? null,
      session: flat["session"] ?? null,
      origin: flat["origin"] ?? null,
      durable: frame.kind !== "ack" && sequence !== null,
      data: frame.data,
    },
  };
}
