// A manifest's text as one value of JSON's types, with the place of each of its fields. Two languages
// come in and nothing behind this file knows which one it was.

import { type CodedError, fail, type Place, quoted } from "../abi/mod.ts";
import type { JsonObject } from "../control/mod.ts";

/** Bytes of a manifest. Past it EMSGSIZE: two controls of the largest size, escaped, fit. */
export const manifestBytesMax = 2 * 1024 * 1024;

/** Nested lists and maps of a manifest. Past it EINVAL. */
export const manifestDepthMax = 72;

/** Where something is wrong before there are fields; an offset counts UTF-16 units. */
export interface SourceFault {
  readonly offset: number;
  readonly reason: string;
}

export interface Source {
  readonly file: string;
  readonly value: JsonObject;
  /** Of a member's name or of its value; of what is around it when there is no such member. */
  place(path: readonly string[], part: "name" | "value"): Place;
}

/** Line and column, from 1, of an offset in a text. */
export function placeAt(file: string, text: string, offset: number): Place {
  const before = text.slice(0, offset);
  const line = before.split("\n").length;
  return { file, line, column: offset - before.lastIndexOf("\n") };
}

/** Throws EINVAL that names file, line and column, and the field where there is one. */
export function refuse(
  place: Place,
  field: string | undefined,
  reason: string,
  code: CodedError["code"] = "EINVAL",
): never {
  const { file, line, column } = place;
  const what = field === undefined ? "" : `field ${quoted(field)}: `;
  return fail(code, `${quoted(file)} line ${line}, column ${column}: ${what}${reason}`, { place });
}
