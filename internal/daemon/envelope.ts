// The first line of a connection when it is an enveloped frame: v1 is served, v2 is told in its own
// form that it is not, and of an abi that nobody knows the form of the frame says which error its peer
// can read.

import { type Code, codes, quoted } from "../abi/mod.ts";
import { decodeV2Line, encodeV2Frame, type V2Attribution, v1Abi, v2Abi } from "../wire/mod.ts";
import { opWire } from "./op-wire.ts";
import type { Opening } from "./open-wire.ts";
import { openV1, v1Error } from "./v1-wire.ts";

/** What is said of a line that is a JSON object with a text in `abi`. */
export function openEnvelope(line: string): Opening {
  const frame = JSON.parse(line) as Readonly<Record<string, unknown>>;
  const abi = String(frame["abi"]);
  if (abi === v1Abi) return openV1(line);
  if (abi === v2Abi) return refuse(answerV2(line));
  const reason = `abi ${quoted(abi)} is not served on this socket`;
  const code = "unsupported_version";
  if (Object.hasOwn(frame, "payload")) return refuse(v1Error(code, reason));
  if (Object.hasOwn(frame, "correlation")) {
    const { attributed } = decodeV2Line(line) as { attributed?: V2Attribution };
    return refuse(v2Error(attributed ?? {}, code, reason));
  }
  return refuse(opWire.error(code, reason));
}

function refuse(answer: string): Opening {
  return { wire: undefined, answer };
}

function answerV2(line: string): string {
  const decoded = decodeV2Line(line);
  if (!decoded.ok) {
    const { attributed, code, path, message } = decoded;
    return v2Error(attributed, code, path === "" ? message : `${path}: ${message}`);
  }
  const { connection_id } = decoded.frame;
  const attributed = connection_id === undefined ? {} : { connection_id };
  if (decoded.frame.kind !== "hello") {
    return v2Error(attributed, "EINVAL", "the first frame of a connection is hello");
  }
  const reason = `${v2Abi} is not served by this version; ${v1Abi} is`;
  return v2Error(attributed, "unsupported_version", reason);
}

/** With the longest prefix of ids that the line had; none is an error of the whole connection. */
function v2Error(attributed: V2Attribution, code: Code, message: string): string {
  const { retryable } = codes[code];
  const data = { code, message, retryable };
  return encodeV2Frame({ side: "slave", kind: "error", ...attributed, data });
}
