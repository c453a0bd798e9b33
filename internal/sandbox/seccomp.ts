// The system call filter as a classic BPF program over struct seccomp_data (linux/seccomp.h). It is
// a list of what is refused; everything that needs a capability is refused by the kernel anyway,
// since the sandbox has none. New user namespaces are stopped by `--disable-userns`, not here: the
// flags of clone3 lie in memory, which a filter cannot read.

export type FilterArchitecture = "x64" | "arm64";

interface CallNumbers {
  readonly audit: number;
  readonly ioctl: number;
  readonly socket: number;
  readonly socketpair: number;
  readonly refused: Readonly<Record<string, number>>;
}

/** Numbers that x86-64 and arm64 share, because they were given after 2019. */
const sharedRefused = {
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  pidfd_getfd: 438,
  mount_setattr: 442,
  open_tree_attr: 467,
};

export const callNumbers: Readonly<Record<FilterArchitecture, CallNumbers>> = {
  x64: {
    audit: 0xc000003e,
    ioctl: 16,
    socket: 41,
    socketpair: 53,
    refused: {
      ptrace: 101,
      // The kernel's log tells much about the host; unprivileged reading is a host setting.
      syslog: 103,
      pivot_root: 155,
      mount: 165,
      umount2: 166,
      kexec_load: 246,
      add_key: 248,
      request_key: 249,
      keyctl: 250,
      perf_event_open: 298,
      open_by_handle_at: 304,
      process_vm_readv: 310,
      process_vm_writev: 311,
      kexec_file_load: 320,
      bpf: 321,
      userfaultfd: 323,
      ...sharedRefused,
    },
  },
  arm64: {
    audit: 0xc00000b7,
    ioctl: 29,
    socket: 198,
    socketpair: 199,
    refused: {
      umount2: 39,
      mount: 40,
      pivot_root: 41,
      kexec_load: 104,
      syslog: 116,
      ptrace: 117,
      add_key: 217,
      request_key: 218,
      keyctl: 219,
      perf_event_open: 241,
      open_by_handle_at: 265,
      process_vm_readv: 270,
      process_vm_writev: 271,
      bpf: 280,
      userfaultfd: 282,
      kexec_file_load: 294,
      ...sharedRefused,
    },
  },
};

/** io_uring_setup, _enter, _register: absent, so that programs fall back to ordinary calls. */
const ioUringFirst = 425;
const ioUringLast = 427;
/** Calls of the x32 ABI carry this bit and would pass by every number below. */
const x32Bit = 0x40000000;

const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const NETLINK_ROUTE = 0;
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

const LOAD_WORD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const RETURN = 0x06;
const RETURN_ALLOW = 0x7fff0000;
const RETURN_ERRNO = 0x00050000;
const RETURN_KILL_PROCESS = 0x80000000;

/** Offsets in struct seccomp_data; of an argument, its low 32 bits on a little-endian machine. */
const numberOffset = 0;
const architectureOffset = 4;
const argumentOffset = (index: number): number => 16 + 8 * index;

/** Where a jump goes: the next instruction, or a label that comes later. */
type Target = "next" | string;
type Step =
  | { readonly label: string }
  | { readonly code: number; readonly k: number; readonly yes?: Target; readonly no?: Target };

/** Bytes of one instruction: u16 code, u8 jump if true, u8 jump if false, u32 operand. */
const instructionBytes = 8;

export function seccompProgram(
  architecture: FilterArchitecture,
  options: { readonly network: boolean },
): Uint8Array {
  const calls = callNumbers[architecture];
  const is = (k: number, yes: Target): Step => ({ code: JUMP_EQUAL, k, yes });
  const load = (k: number): Step => ({ code: LOAD_WORD, k });
  const give = (label: string, k: number): Step[] => [{ label }, { code: RETURN, k }];
  return assemble([
    load(architectureOffset),
    { code: JUMP_EQUAL, k: calls.audit, no: "kill" },
    load(numberOffset),
    ...(architecture === "x64" ? [{ code: JUMP_AT_LEAST, k: x32Bit, yes: "absent" }] : []),
    is(calls.ioctl, "ioctl"),
    is(calls.socket, "socket"),
    is(calls.socketpair, "socket"),
    ...range(ioUringFirst, ioUringLast).map((number) => is(number, "absent")),
    ...Object.values(calls.refused).map((number) => is(number, "refused")),
    { code: RETURN, k: RETURN_ALLOW },
    { label: "ioctl" },
    // The kernel takes the request as 32 bits; a set high half must not hide it.
    load(argumentOffset(1)),
    is(TIOCSTI, "refused"),
    is(TIOCLINUX, "refused"),
    { code: RETURN, k: RETURN_ALLOW },
    { label: "socket" },
    load(argumentOffset(0)),
    is(AF_UNIX, "allowed"),
    ...(options.network ? [is(AF_INET, "allowed"), is(AF_INET6, "allowed")] : []),
    ...(options.network ? [is(AF_NETLINK, "netlink")] : []),
    ...give("family", RETURN_ERRNO | EAFNOSUPPORT),
    { label: "netlink" },
    load(argumentOffset(2)),
    { code: JUMP_EQUAL, k: NETLINK_ROUTE, yes: "allowed", no: "unsupported" },
    ...give("unsupported", RETURN_ERRNO | EAFNOSUPPORT),
    ...give("allowed", RETURN_ALLOW),
    ...give("refused", RETURN_ERRNO | EPERM),
    ...give("absent", RETURN_ERRNO | ENOSYS),
    ...give("kill", RETURN_KILL_PROCESS),
  ]);
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

function assemble(steps: readonly Step[]): Uint8Array {
  const labels = new Map<string, number>();
  const code: Exclude<Step, { label: string }>[] = [];
  for (const step of steps) {
    if ("label" in step) labels.set(step.label, code.length);
    else code.push(step);
  }
  const bytes = new Uint8Array(code.length * instructionBytes);
  const view = new DataView(bytes.buffer);
  for (const [index, step] of code.entries()) {
    const jump = (target: Target = "next"): number => {
      if (target === "next") return 0;
      const distance = (labels.get(target) ?? -1) - index - 1;
      // A jump has eight bits and only goes forward; breaking that is a mistake of this file.
      if (distance < 0 || distance > 255)
        throw new RangeError(`no jump from ${index} to ${target}`);
      return distance;
    };
    view.setUint16(index * instructionBytes, step.code, true);
    view.setUint8(index * instructionBytes + 2, jump(step.yes));
    view.setUint8(index * instructionBytes + 3, jump(step.no));
    view.setUint32(index * instructionBytes + 4, step.k >>> 0, true);
  }
  return bytes;
}
