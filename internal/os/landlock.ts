// Which Landlock the kernel has (landlock(7)).

import { libc } from "./libc.ts";

const SYS_landlock_create_ruleset = 444;
const LANDLOCK_CREATE_RULESET_VERSION = 1;

let known: number | undefined;

/** Its version, counted from 1; 0 without it, or where the host has switched it off. */
export function landlockVersion(): number {
  known ??= Math.max(
    0,
    Number(
      libc().syscall(
        SYS_landlock_create_ruleset,
        ...([0, 0, LANDLOCK_CREATE_RULESET_VERSION, 0, 0, 0] as const),
      ),
    ),
  );
  return known;
}
