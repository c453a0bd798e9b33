// Holding a terminal's output in the kernel, as tcflow(3) does: who writes to it then waits, and who
// reads its other side finds nothing. Independent of the keys by which a person does the same.

import { readFileSync } from "node:fs";
import { openPath } from "./files.ts";
import { checked, libc } from "./libc.ts";

const SYS_ioctl = process.arch === "arm64" ? 29 : 16;
const TCXONC = 0x540a;
const TCOOFF = 0;
const TCOON = 1;

/** First of the majors of pseudo-terminals (Documentation/admin-guide/devices.txt). */
const ptsMajor = 136;

/**
 * A descriptor of the pseudo-terminal that controls a process; the caller's own does not become it.
 * Undefined when there is none, or when it is not below this process's /dev/pts.
 */
export function openTerminalOf(pid: number): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const number = Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[4]);
    const major = (number >> 8) & 0xfff;
    const minor = (number & 0xff) | ((number >> 12) & 0xfff00);
    return major === ptsMajor ? openPath(`/dev/pts/${minor}`, "write") : undefined;
  } catch {
    return undefined;
  }
}

export function holdOutput(fd: number): void {
  checked(libc().syscall(SYS_ioctl, fd, TCXONC, TCOOFF, 0, 0, 0), "ioctl", "TCOOFF");
}

export function releaseOutput(fd: number): void {
  checked(libc().syscall(SYS_ioctl, fd, TCXONC, TCOON, 0, 0, 0), "ioctl", "TCOON");
}
