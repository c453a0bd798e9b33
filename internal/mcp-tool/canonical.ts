// One text for one JSON value: the form whose digest says whether two descriptions are the same.
// Members are sorted by UTF-16 code unit, there is no white space, numbers and strings are written as
// ECMAScript does (as RFC 8785 has it).

import { fail } from "../abi/mod.ts";
import { canonicalDepthMax } from "./bounds.ts";

/** Absent members (`undefined`) are left out. Throws EINVAL past the depth and for what JSON cannot say. */
export function canonicalJson(value: unknown): string {
  return write(value, 0);
}

function write(value: unknown, depth: number): string {
  if (depth > canonicalDepthMax) {
    return fail("EINVAL", `JSON value nests deeper than ${canonicalDepthMax} levels`);
  }
  if (Array.isArray(value)) {
    return `[${value.map((one) => write(one ?? null, depth + 1)).join(",")}]`;
  }
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).filter(([, one]) => one !== undefined);
    members.sort(([a], [b]) => (a < b ? -1 : 1));
    const texts = members.map(([name, one]) => `${JSON.stringify(name)}:${write(one, depth + 1)}`);
    return `{${texts.join(",")}}`;
  }
  // The parser turns 1e999 into an infinity, which no JSON text can say again.
  if (typeof value === "number" && !Number.isFinite(value)) {
    return fail("EINVAL", "number is too large for a double");
  }
  return JSON.stringify(value) ?? fail("EINVAL", `a ${typeof value} is no JSON value`);
}
