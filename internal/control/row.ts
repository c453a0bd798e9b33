// The shape of a control table. A row tells how a control is read, whether it may be absent, and
// whether people or the runtime write it.

import type { Parsed } from "./types.ts";

export interface ControlRow<T> {
  readonly parse: (text: string) => Parsed<T>;
  /** True: an object without the file is an error that names the file. */
  readonly required: boolean;
  /** True: nobody but the runtime writes it; `ctx set` and the view refuse. */
  readonly runtimeOwned: boolean;
  /** What an absent file means; undefined when that is said by another control or by nothing. */
  readonly absent: T | undefined;
}

export type ControlTable<Values> = { readonly [N in keyof Values]: ControlRow<Values[N]> };

type Parse<T> = (text: string) => Parsed<T>;

export function required<T>(parse: Parse<T>): ControlRow<T> {
  return { parse, required: true, runtimeOwned: false, absent: undefined };
}

export function optional<T>(parse: Parse<T>, absent?: T): ControlRow<T> {
  return { parse, required: false, runtimeOwned: false, absent };
}

export function runtimeOwned<T>(parse: Parse<T>): ControlRow<T> {
  return { parse, required: false, runtimeOwned: true, absent: undefined };
}
