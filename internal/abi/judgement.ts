// What a validator of a wire says about one line, in a form that two validators can be compared by.

import type { Code } from "./codes.ts";

/**
 * Which check refused: `line` is framing, UTF-8, JSON syntax or the bound of a line; `schema` is what
 * the protocol's JSON Schema refuses too; `rule` is what no JSON Schema can say.
 */
export type JudgedBy = "line" | "schema" | "rule";

export type Judgement =
  | { readonly ok: true; readonly kind: string }
  | {
      readonly ok: false;
      readonly code: Code;
      /** JSON Pointer (RFC 6901) of what is wrong; "" is the whole line. */
      readonly path: string;
      readonly message: string;
      readonly by: JudgedBy;
    };
