// Versions of objects and the versions of this product that they work with, by semver.org 2.0.0. The
// owner of the package, which takes more than the standard does where it is asked about a version.

import { parse, satisfies, validRange } from "semver";

/** Characters of a version or a range. Past it EINVAL. */
const versionCharsMax = 256;

export function versionFault(text: string): string | undefined {
  if (text.length > versionCharsMax) return `it has more than ${versionCharsMax} characters`;
  const fault = `${JSON.stringify(text)} is not a SemVer such as 1.2.3`;
  // The package passes over a leading "v" and spaces.
  if (!/^[0-9]/.test(text) || text !== text.trim()) return fault;
  return parse(text) === null ? fault : undefined;
}

export function rangeFault(text: string): string | undefined {
  if (text.length > versionCharsMax) return `it has more than ${versionCharsMax} characters`;
  const isRange = text.trim() !== "" && validRange(text) !== null;
  return isRange
    ? undefined
    : `${JSON.stringify(text)} is not a SemVer range such as >=0.1.0 <1.0.0`;
}

/** Whether a product of this version may run an object that asks for `range`; null asks nothing. */
export function isCompatible(range: string | null, version: string): boolean {
  return range === null || satisfies(version, range);
}
