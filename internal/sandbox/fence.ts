// A program of a few hundred bytes that every sandbox passes on its way to the gate: from then on no
// process can make a Unix socket outside of its own /tmp and /dev/shm (Landlock, landlock(7)). A
// socket in a folder that two sandboxes share would hand open folders from one to the other, and
// there a read-only mount over a part of such a folder (`.git`, the history) no longer holds: the
// kernel forgets it with the sandbox that had it, and others may rename what it lies on. No program
// of every host can make these calls, so this one is written out as an ELF file. Pure.

import type { FilterArchitecture } from "./seccomp.ts";

/** Oldest Landlock that can leave renames between folders alone (kernel 5.19). */
export const landlockVersionMin = 2;

/** Exit status when the fence could not be put up; nothing has run then. */
export const fenceFailedStatus = 126;

// linux/landlock.h and fcntl.h; both architectures agree on all of them.
const MAKE_SOCK = 1 << 9;
const REFER = 1 << 13;
const RULE_PATH_BENEATH = 1;
const AT_FDCWD = -100;
const O_PATH_CLOEXEC = 0o12000000;
const O_CLOEXEC = 0o2000000;

/**
 * Where sockets may be made: what is mounted for one sandbox alone. Any rule set forbids moves from
 * folder to folder unless it says otherwise, which is the first line.
 */
const rules = [
  { path: "/", access: REFER },
  { path: "/tmp", access: MAKE_SOCK },
  { path: "/dev/shm", access: MAKE_SOCK },
];

/** Numbers above the descriptors that a launch uses; one each, so that a failed open adds no rule. */
const rulesetDescriptor = 20;
const firstRuleDescriptor = 21;

const base = 0x400000;
const headerBytes = 64 + 56;

/**
 * The file for `FENCE PROGRAM ARG…`, which closes `descriptor` (its own file) and becomes PROGRAM.
 */
export function fenceProgram(architecture: FilterArchitecture, descriptor: number): Uint8Array {
  const machine = machines[architecture];
  const data = new Data(base + headerBytes);
  const { calls } = machine;
  const steps = [
    machine.call(calls.createRuleset, [data.add(words64(MAKE_SOCK | REFER)), 8, 0]),
    machine.call(calls.dup3, ["result", rulesetDescriptor, O_CLOEXEC]),
    ...rules.flatMap(({ path, access }, index) => {
      const fd = firstRuleDescriptor + index;
      const at = data.add(new TextEncoder().encode(`${path}\0`));
      const rule = data.add([...words64(access), ...words32(fd)]);
      return [
        machine.call(calls.openat, [AT_FDCWD, at, O_PATH_CLOEXEC, 0]),
        machine.call(calls.dup3, ["result", fd, O_CLOEXEC]),
        machine.call(calls.addRule, [rulesetDescriptor, RULE_PATH_BENEATH, rule, 0]),
      ];
    }),
    machine.call(calls.restrictSelf, [rulesetDescriptor, 0]),
    machine.unlessZero(machine.call(calls.exit, [fenceFailedStatus])),
    machine.call(calls.close, [descriptor]),
    machine.execute,
    machine.call(calls.exit, [127]),
  ];
  const body = [...data.bytes, ...steps.flat()];
  const entry = base + headerBytes + data.bytes.length;
  return new Uint8Array([...elfHeader(machine.elf, entry, headerBytes + body.length), ...body]);
}

type Argument = number | "result";

interface Machine {
  /** e_machine of the ELF header. */
  readonly elf: number;
  readonly calls: Readonly<
    Record<
      "createRuleset" | "addRule" | "restrictSelf" | "openat" | "dup3" | "close" | "exit",
      number
    >
  >;
  /** A system call; "result" is that of the one before and may only come first. */
  call(number: number, list: readonly Argument[]): number[];
  /** Runs `code` when the last result is not 0. */
  unlessZero(code: readonly number[]): number[];
  /** Becomes the program that the first argument names, with it as argument 0. */
  readonly execute: readonly number[];
}

const landlock = { createRuleset: 444, addRule: 445, restrictSelf: 446 };

const machines: Readonly<Record<FilterArchitecture, Machine>> = {
  x64: {
    elf: 62,
    calls: { ...landlock, openat: 257, dup3: 292, close: 3, exit: 231 },
    call(number, list) {
      // mov edi, esi, edx, r10d with a constant; a result moves from eax.
      const registers = [[0xbf], [0xbe], [0xba], [0x41, 0xba]];
      const moves = list.flatMap((value, index) =>
        value === "result" ? [0x89, 0xc7] : [...(registers[index] ?? []), ...words32(value)],
      );
      return [...moves, 0xb8, ...words32(number), 0x0f, 0x05];
    },
    // test eax, eax; jz over the code
    unlessZero: (code) => [0x85, 0xc0, 0x74, code.length, ...code],
    execute: [
      ...[0x48, 0x8b, 0x04, 0x24], // mov rax, [rsp]: how many arguments
      ...[0x48, 0x8b, 0x7c, 0x24, 0x10], // mov rdi, [rsp+16]: argument 1
      ...[0x48, 0x8d, 0x74, 0x24, 0x10], // lea rsi, [rsp+16]: the arguments from there
      ...[0x48, 0x8d, 0x54, 0xc4, 0x10], // lea rdx, [rsp+rax*8+16]: the environment
      ...[0xb8, 59, 0, 0, 0, 0x0f, 0x05], // execve
    ],
  },
  arm64: {
    elf: 183,
    calls: { ...landlock, openat: 56, dup3: 24, close: 57, exit: 94 },
    call(number, list) {
      // movz, movk of register 0 to 3, then of 8; a result is in register 0 already.
      const constant = (register: number, value: number) => [
        ...words32(0xd2800000 | ((value & 0xffff) << 5) | register),
        ...words32(0xf2a00000 | ((value >>> 16) << 5) | register),
      ];
      const moves = list.flatMap((value, index) =>
        value === "result" ? [] : constant(index, value),
      );
      return [...moves, ...constant(8, number), ...words32(0xd4000001)];
    },
    // cbz w0 over the code, counted in instructions from itself
    unlessZero: (code) => [...words32(0x34000000 | ((code.length / 4 + 1) << 5)), ...code],
    execute: [
      0xf94003e9, // ldr x9, [sp]: how many arguments
      0xf9400be0, // ldr x0, [sp, #16]: argument 1
      0x910043e1, // add x1, sp, #16: the arguments from there
      0x8b296fe2, // add x2, sp, x9, uxtx #3
      0x91004042, // add x2, x2, #16: the environment
      0xd2801ba8, // movz x8, #221: execve
      0xd4000001, // svc #0
    ].flatMap((word) => words32(word)),
  },
};

/** Constants that the code points to. */
class Data {
  readonly bytes: number[] = [];
  readonly #at: number;

  constructor(at: number) {
    this.#at = at;
  }

  /** The address; always a multiple of eight, as the instructions that follow need one too. */
  add(bytes: Iterable<number>): number {
    const address = this.#at + this.bytes.length;
    this.bytes.push(...bytes);
    while (this.bytes.length % 8 !== 0) this.bytes.push(0);
    return address;
  }
}

/** One segment, readable and executable, that holds the whole file. */
function elfHeader(machine: number, entry: number, bytes: number): number[] {
  return [
    ...[0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    ...[...words16(2), ...words16(machine), ...words32(1)],
    ...[...words64(entry), ...words64(64), ...words64(0), ...words32(0)],
    ...[...words16(64), ...words16(56), ...words16(1), ...words16(64), ...words16(0)],
    ...words16(0),
    ...[...words32(1), ...words32(5), ...words64(0), ...words64(base), ...words64(base)],
    ...[...words64(bytes), ...words64(bytes), ...words64(0x10000)],
  ];
}

function words16(value: number): number[] {
  return [value & 0xff, (value >>> 8) & 0xff];
}

function words32(value: number): number[] {
  return [...words16(value & 0xffff), ...words16(value >>> 16)];
}

function words64(value: number): number[] {
  return [...words32(value), ...words32(0)];
}
