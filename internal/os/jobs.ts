// Programs as a shell runs them: each in a process group of its own, in the foreground of the terminal
// before it runs its first instruction, with the signals that the shell ignores set back, and told of
// when it stops as well as when it ends. By posix_spawn(3), since Bun's own spawn knows no groups.

import { dlopen } from "bun:ffi";
import { constants } from "node:os";
import { checked, cString, libc, pointerTo, SystemError } from "./libc.ts";

const arm = process.arch === "arm64";
const SYS_wait4 = arm ? 260 : 61;
const SYS_rt_sigaction = arm ? 134 : 13;
const SYS_getpgid = arm ? 155 : 121;
const SYS_fcntl = arm ? 25 : 72;
const SYS_ioctl = arm ? 29 : 16;

const signatures = {
  posix_spawn: { args: ["ptr", "ptr", "ptr", "ptr", "ptr", "ptr"], returns: "i32" },
  posix_spawn_file_actions_init: { args: ["ptr"], returns: "i32" },
  posix_spawn_file_actions_destroy: { args: ["ptr"], returns: "i32" },
  posix_spawn_file_actions_adddup2: { args: ["ptr", "i32", "i32"], returns: "i32" },
  posix_spawn_file_actions_addchdir_np: { args: ["ptr", "ptr"], returns: "i32" },
  posix_spawnattr_init: { args: ["ptr"], returns: "i32" },
  posix_spawnattr_destroy: { args: ["ptr"], returns: "i32" },
  posix_spawnattr_setflags: { args: ["ptr", "i16"], returns: "i32" },
  posix_spawnattr_setpgroup: { args: ["ptr", "i32"], returns: "i32" },
  posix_spawnattr_setsigdefault: { args: ["ptr", "ptr"], returns: "i32" },
  posix_spawnattr_setsigmask: { args: ["ptr", "ptr"], returns: "i32" },
} as const;

/** glibc 2.35; without it the foreground is given right after the start instead of right before. */
const foregroundSignature = {
  posix_spawn_file_actions_addtcsetpgrp_np: { args: ["ptr", "i32"], returns: "i32" },
} as const;

function open() {
  const calls = dlopen("libc.so.6", signatures).symbols;
  try {
    const added = dlopen("libc.so.6", foregroundSignature).symbols;
    return { ...calls, foreground: added.posix_spawn_file_actions_addtcsetpgrp_np };
  } catch {
    return { ...calls, foreground: undefined };
  }
}

let opened: ReturnType<typeof open> | undefined;

const POSIX_SPAWN_SETPGROUP = 0x02;
const POSIX_SPAWN_SETSIGDEF = 0x04;
const POSIX_SPAWN_SETSIGMASK = 0x08;
const POSIX_SPAWN_SETSID = 0x80;

/** Not less than the C library's structs, which take 80, 336 and 128 bytes. */
const structBytes = 512;

export interface JobOptions {
  /** The program's file; nothing is looked up. */
  readonly path: string;
  /** Its name and arguments as it sees them. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** Descriptors of ours that become its 0, 1 and 2. */
  readonly streams: readonly [number, number, number];
  /**
   * A group of its own in this session, a whole session without a terminal, or none of its own, as
   * for a program that stands for this one.
   */
  readonly group: "own" | "session" | "shared";
  /** The descriptor of the terminal whose foreground it becomes; for a group of its own. */
  readonly foreground?: number;
}

/** The pid, which names its group too. Throws SystemError for a program that cannot be run. */
export function spawnJob(options: JobOptions): number {
  opened ??= open();
  const calls = opened;
  const keep: Uint8Array[] = [];
  const text = (value: string) => {
    const bytes = cString(value);
    keep.push(bytes);
    return pointerTo(bytes);
  };
  const list = (values: readonly string[]) => {
    const pointers = new BigUint64Array(values.length + 1);
    for (const [index, value] of values.entries()) pointers[index] = BigInt(text(value));
    const bytes = new Uint8Array(pointers.buffer);
    keep.push(bytes);
    return pointerTo(bytes);
  };
  const actions = new Uint8Array(structBytes);
  const attributes = new Uint8Array(structBytes);
  const expect0 = (number: number, what: string) => {
    if (number !== 0) throw new SystemError(what, number, options.path);
  };
  expect0(calls.posix_spawn_file_actions_init(pointerTo(actions)), "spawn");
  expect0(calls.posix_spawnattr_init(pointerTo(attributes)), "spawn");
  try {
    const signals = allSignals();
    const none = new Uint8Array(signals.length);
    const own = options.group === "own" ? POSIX_SPAWN_SETPGROUP : 0;
    const session = options.group === "session" ? POSIX_SPAWN_SETSID : 0;
    const flags = own | session | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
    calls.posix_spawnattr_setflags(pointerTo(attributes), flags);
    calls.posix_spawnattr_setpgroup(pointerTo(attributes), 0);
    calls.posix_spawnattr_setsigdefault(pointerTo(attributes), pointerTo(signals));
    calls.posix_spawnattr_setsigmask(pointerTo(attributes), pointerTo(none));
    addActions(calls, actions, options, text);
    const pid = new Int32Array(1);
    const environment = Object.entries(options.env).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}=${value}`],
    );
    const result = calls.posix_spawn(
      pointerTo(pid),
      text(options.path),
      pointerTo(actions),
      pointerTo(attributes),
      list(options.argv),
      list(environment),
    );
    expect0(result, "spawn");
    return pid[0] as number;
  } finally {
    calls.posix_spawn_file_actions_destroy(pointerTo(actions));
    calls.posix_spawnattr_destroy(pointerTo(attributes));
  }
}

function addActions(
  calls: ReturnType<typeof open>,
  actions: Uint8Array,
  { foreground, streams, cwd }: JobOptions,
  text: (value: string) => ReturnType<typeof pointerTo>,
): void {
  if (foreground !== undefined) calls.foreground?.(pointerTo(actions), foreground);
  // A stream that is another one's number is moved out of its way first.
  const high = streams.map((fd, index) => (fd < 3 && fd !== index ? 200 + index : fd));
  for (const [index, fd] of streams.entries()) {
    if (high[index] === fd) continue;
    calls.posix_spawn_file_actions_adddup2(pointerTo(actions), fd, high[index] as number);
  }
  // Onto itself it loses its close-on-exec, as it must.
  for (const [index, fd] of high.entries()) {
    calls.posix_spawn_file_actions_adddup2(pointerTo(actions), fd, index);
  }
  if (cwd !== undefined) calls.posix_spawn_file_actions_addchdir_np(pointerTo(actions), text(cwd));
}

/** Every signal whose action can be set: 1 to 31 but KILL and STOP. */
function allSignals(): Uint8Array {
  const set = new Uint8Array(structBytes);
  for (let signal = 1; signal < 32; signal++) {
    if (signal === constants.signals.SIGKILL || signal === constants.signals.SIGSTOP) continue;
    set[(signal - 1) >> 3] = (set[(signal - 1) >> 3] as number) | (1 << ((signal - 1) & 7));
  }
  return set;
}

export type JobState =
  | { readonly kind: "running" }
  | { readonly kind: "exited"; readonly status: number }
  | { readonly kind: "killed"; readonly signal: number }
  | { readonly kind: "stopped"; readonly signal: number };

const WNOHANG = 1;
const WUNTRACED = 2;

/** What has become of a job, without waiting. An end is told once; afterwards it throws ECHILD. */
export function jobState(pid: number): JobState {
  const status = new Int32Array(1);
  const result = libc().syscall(SYS_wait4, pid, pointerTo(status), WNOHANG | WUNTRACED, 0, 0, 0);
  if (checked(result, "wait4", String(pid)) === 0) return { kind: "running" };
  const word = status[0] as number;
  if ((word & 0xff) === 0x7f) return { kind: "stopped", signal: (word >> 8) & 0xff };
  const signal = word & 0x7f;
  return signal === 0 ? { kind: "exited", status: (word >> 8) & 0xff } : { kind: "killed", signal };
}

/** False when nobody is in the group any more. */
export function signalGroup(group: number, signal: number): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code === "ESRCH") return false;
    throw error;
  }
}

/** The process group that this process is in. */
export function ownGroup(): number {
  return checked(libc().syscall(SYS_getpgid, 0, 0, 0, 0, 0, 0), "getpgid", "self");
}

/** A shell ignores what the terminal's keys and its own handling of the terminal would do to it. */
export function ignoreSignals(names: readonly (keyof typeof constants.signals)[]): void {
  // struct sigaction of the kernel: handler SIG_IGN, no flags, no restorer, empty mask.
  const action = new Uint8Array(32);
  action[0] = 1;
  for (const name of names) {
    const result = libc().syscall(
      SYS_rt_sigaction,
      constants.signals[name],
      pointerTo(action),
      0,
      8,
      0,
      0,
    );
    checked(result, "sigaction", name);
  }
}

const F_SETFL = 4;
const F_SETOWN = 8;
const O_NONBLOCK = 0o4000;
const O_ASYNC = 0o20000;
const FIONREAD = 0x541b;

/**
 * From here on this process gets SIGIO whenever something comes in at `fd`, which must be an open file
 * of our own: then it can be read byte by byte, and what is not read stays for the next program.
 */
export function signalInput(fd: number): void {
  checked(libc().syscall(SYS_fcntl, fd, F_SETOWN, process.pid, 0, 0, 0), "fcntl", String(fd));
  const flags = O_NONBLOCK | O_ASYNC;
  checked(libc().syscall(SYS_fcntl, fd, F_SETFL, flags, 0, 0, 0), "fcntl", String(fd));
}

/** Bytes that can be read from a pipe or terminal now. */
export function readableBytes(fd: number): number {
  const count = new Int32Array(1);
  const result = libc().syscall(SYS_ioctl, fd, FIONREAD, pointerTo(count), 0, 0, 0);
  checked(result, "ioctl", String(fd));
  return count[0] as number;
}
