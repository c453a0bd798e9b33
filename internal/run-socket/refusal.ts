// How a request is refused, and how a bug of ours is told.

import { type CodedError, coded, isCoded } from "../abi/mod.ts";
import { encodeCapability } from "../capability/mod.ts";

export function refusalLine(id: string | null, error: Pick<CodedError, "code" | "message">) {
  const { code, message } = error;
  return encodeCapability({ request_id: id, ok: false, code, message });
}

/** A bug is told of, and nothing of it is shown. */
export function told(error: unknown): Pick<CodedError, "code" | "message"> {
  if (isCoded(error)) return error;
  return { code: coded(error).code, message: "the host failed; its log says more" };
}
