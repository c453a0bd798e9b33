// Names of transient units. A name ends in its launch's generation, so it is never used twice, and a
// stop by name can never meet a unit that somebody started meanwhile.

import { fail, quoted } from "../abi/mod.ts";

/** systemd's own bound is 255 with the suffix. Past this one the start is refused. */
export const unitNameBytesMax = 200;

const grammar = /^[A-Za-z0-9][A-Za-z0-9:_.-]*$/;

const suffix = ".service";

/** Without its suffix; throws EINVAL for a name that could mean more than itself to systemd. */
export function bareUnit(unit: string): string {
  const bare = unit.endsWith(suffix) ? unit.slice(0, -suffix.length) : unit;
  if (grammar.test(bare) && bare.length <= unitNameBytesMax) return bare;
  return fail("EINVAL", `unit name ${quoted(unit)} is not valid`, {
    hint: `use 1 to ${unitNameBytesMax} of A-Z a-z 0-9 : _ . -`,
  });
}

export function serviceOf(unit: string): string {
  return `${bareUnit(unit)}${suffix}`;
}

/** A pattern for systemctl that meets the unit of that generation and no other. */
export function patternOf(generation: string): string {
  if (!/^[0-9a-f]{16,64}$/.test(generation)) {
    fail("EINVAL", `generation ${quoted(generation)} is not valid`);
  }
  return `*-${generation}${suffix}`;
}

/** Whether the unit was made for this launch and no other. */
export function isUnitOf(unit: string, generation: string): boolean {
  return unit.endsWith(patternOf(generation).slice(1));
}
