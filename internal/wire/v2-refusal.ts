// How a v2 frame is refused: one code, one place, one sentence.

import { type Code, type JudgedBy, quoted } from "../abi/mod.ts";

export interface Refusal {
  readonly code: Code;
  /** JSON Pointer; "" is the whole line. */
  readonly path: string;
  readonly message: string;
  readonly by: JudgedBy;
  /** Name in rules.json of the rule that refused. */
  readonly rule?: string;
}

/** `why` is the clause after the field's name. */
export function refuse(by: JudgedBy, path: string, why: string, code: Code = "EINVAL"): Refusal {
  const field = path.slice(1).replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~");
  return { code, path, message: path === "" ? why : `field ${quoted(field)} ${why}`, by };
}

/** `rule` is a name of rules.json. */
export function breaks(rule: string, path: string, why: string, code?: Code): Refusal {
  return { ...refuse("rule", path, why, code), rule };
}

/** One step of a JSON Pointer. */
export const pointer = (key: string) => key.replaceAll("~", "~0").replaceAll("/", "~1");
