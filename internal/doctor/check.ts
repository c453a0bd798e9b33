// One finding of the doctor: what was looked at, how it is, and what to do when it is not well.

import { coded } from "../abi/mod.ts";

export interface Check {
  readonly name: string;
  /** `fail`: something does not work. `warn`: it works, and a person should know. */
  readonly level: "ok" | "warn" | "fail";
  readonly text: string;
  readonly fix?: string;
}

export function well(name: string, text: string): Check {
  return { name, level: "ok", text };
}

export function warning(name: string, text: string, fix?: string): Check {
  return { name, level: "warn", text, ...(fix === undefined ? {} : { fix }) };
}

export function failure(name: string, text: string, fix?: string): Check {
  return { name, level: "fail", text, ...(fix === undefined ? {} : { fix }) };
}

/** A failed check from anything thrown: its message, and its hint, else `fix`, as the way out. */
export function failureOf(name: string, thrown: unknown, fix?: string): Check {
  const error = coded(thrown);
  return failure(name, `${error.message} [${error.code}]`, error.hint ?? fix);
}
