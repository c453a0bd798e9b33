// Keeps the other programs of the same user out of this process.

import { checked, libc } from "./libc.ts";

const SYS_prctl = process.arch === "arm64" ? 167 : 157;
const PR_SET_DUMPABLE = 4;

/**
 * From here on nobody of this uid without CAP_SYS_PTRACE can read or write this process's memory, open
 * its descriptors through /proc, or see its environment. Its children are as before once they execute
 * their programs.
 */
export function guardProcess(): void {
  checked(libc().syscall(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0, 0), "prctl", "PR_SET_DUMPABLE");
}
