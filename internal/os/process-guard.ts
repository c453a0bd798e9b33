// What a process asks of the kernel about itself: to be left alone, and to be told of orphans.

import { checked, libc } from "./libc.ts";

const SYS_prctl = process.arch === "arm64" ? 167 : 157;
const PR_SET_DUMPABLE = 4;
const PR_SET_CHILD_SUBREAPER = 36;

/**
 * From here on nobody of this uid without CAP_SYS_PTRACE can read or write this process's memory, open
 * its descriptors through /proc, or see its environment. Its children are as before once they execute
 * their programs.
 */
export function guardProcess(): void {
  checked(libc().syscall(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0, 0), "prctl", "PR_SET_DUMPABLE");
}

/** From here on a descendant that loses its parent becomes a child of this process, not of init. */
export function adoptChildren(): void {
  const set = libc().syscall(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0, 0);
  checked(set, "prctl", "PR_SET_CHILD_SUBREAPER");
}
