// The kernel's settings of a terminal, by ioctl(2) on any descriptor of it: modes (termios), size,
// foreground group. Modes are plain bytes of the kernel's own struct, equal on x86-64 and arm64, to be
// kept and put back whole. Nothing here loads node:tty, which costs a small command 8 ms.

import { checked, libc, pointerTo } from "./libc.ts";

const SYS_ioctl = process.arch === "arm64" ? 29 : 16;
const TCGETS = 0x5401;
const TCSETS = 0x5402;
const TCSETSW = 0x5403;
const TCSETSF = 0x5404;
const TIOCGPGRP = 0x540f;
const TIOCSPGRP = 0x5410;
const TIOCGWINSZ = 0x5413;
const TCFLSH = 0x540b;
const TCIFLUSH = 0;

/** Bytes of struct termios: four flag words, the line discipline, 19 control characters. */
const modesBytes = 36;

// asm-generic/termbits.h.
const IGNBRK = 0o1;
const BRKINT = 0o2;
const PARMRK = 0o10;
const ISTRIP = 0o40;
const INLCR = 0o100;
const IGNCR = 0o200;
const ICRNL = 0o400;
const IXON = 0o2000;
const OPOST = 0o1;
const ONLCR = 0o4;
const CSIZE = 0o60;
const PARENB = 0o400;
const CS8 = 0o60;
const ISIG = 0o1;
const ICANON = 0o2;
const ECHO = 0o10;
const ECHONL = 0o100;
const NOFLSH = 0o200;
const IEXTEN = 0o100000;
const flagsAt = { input: 0, output: 4, control: 8, local: 12 } as const;
const charactersAt = 17;
const VQUIT = 1;
const VTIME = 5;
const VMIN = 6;
const VSUSP = 10;

export type TerminalModes = Uint8Array;

/** The modes of the terminal behind `fd`. Throws SystemError ENOTTY for anything else. */
export function terminalModes(fd: number): TerminalModes {
  const modes = new Uint8Array(modesBytes);
  control(fd, TCGETS, modes);
  return modes;
}

/**
 * Sets all modes: `now`, when what was written is `drained`, or then and what was typed and not read
 * is thrown away (`flushed`). A background process needs SIGTTOU ignored, else it is stopped here.
 */
export function setTerminalModes(
  fd: number,
  modes: TerminalModes,
  when: "now" | "drained" | "flushed" = "now",
): void {
  const request = when === "now" ? TCSETS : when === "drained" ? TCSETSW : TCSETSF;
  control(fd, request, modes.slice(0, modesBytes));
}

/**
 * The modes in which every byte passes as it is, both ways (cfmakeraw(3)); with `signals` the keys that
 * signal, as Ctrl-C, still do.
 */
export function rawModes(from: TerminalModes, signals = false): TerminalModes {
  const modes = from.slice();
  const view = new DataView(modes.buffer);
  const clear = (at: number, bits: number) =>
    view.setUint32(at, view.getUint32(at, true) & ~bits, true);
  clear(flagsAt.input, IGNBRK | BRKINT | PARMRK | ISTRIP | INLCR | IGNCR | ICRNL | IXON);
  clear(flagsAt.output, OPOST);
  clear(flagsAt.local, ECHO | ECHONL | ICANON | IEXTEN | (signals ? 0 : ISIG));
  clear(flagsAt.control, CSIZE | PARENB);
  view.setUint32(flagsAt.control, view.getUint32(flagsAt.control, true) | CS8, true);
  modes[charactersAt + VMIN] = 1;
  modes[charactersAt + VTIME] = 0;
  return modes;
}

/**
 * The modes in which a shell edits a line: every key comes as it is typed and none of them signals;
 * what is printed is still completed to whole line ends, as any program expects. With `interrupt`
 * Ctrl-C alone is a signal, and what was typed before it stays to be read.
 */
export function typingModes(from: TerminalModes, interrupt = false): TerminalModes {
  const modes = rawModes(from, interrupt);
  const view = new DataView(modes.buffer);
  if (interrupt) {
    view.setUint32(flagsAt.local, view.getUint32(flagsAt.local, true) | NOFLSH, true);
    for (const key of [VQUIT, VSUSP]) modes[charactersAt + key] = 0;
  }
  view.setUint32(flagsAt.output, view.getUint32(flagsAt.output, true) | OPOST | ONLCR, true);
  return modes;
}

/** Throws away what was typed or answered and nobody has read. */
export function discardInput(fd: number): void {
  checked(libc().syscall(SYS_ioctl, fd, TCFLSH, TCIFLUSH, 0, 0, 0), "ioctl", String(fd));
}

export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

/** Zeros where nobody has set a size. Throws SystemError ENOTTY. */
export function terminalSize(fd: number): TerminalSize {
  const size = new Uint8Array(8);
  control(fd, TIOCGWINSZ, size);
  const view = new DataView(size.buffer);
  return { rows: view.getUint16(0, true), cols: view.getUint16(2, true) };
}

/** The process group that the terminal's keys signal and that may read it. */
export function foregroundGroup(fd: number): number {
  const group = new Uint8Array(4);
  control(fd, TIOCGPGRP, group);
  return new DataView(group.buffer).getInt32(0, true);
}

export function setForegroundGroup(fd: number, group: number): void {
  const value = new Uint8Array(4);
  new DataView(value.buffer).setInt32(0, group, true);
  control(fd, TIOCSPGRP, value);
}

function control(fd: number, request: number, value: Uint8Array): void {
  const result = libc().syscall(SYS_ioctl, fd, request, pointerTo(value), 0, 0, 0);
  checked(result, "ioctl", String(fd));
}
