// The filter is run by a small evaluator of classic BPF, on calls that the machine at hand could not
// make: another architecture, a request with high bits, a family that no kernel here has.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { callNumbers, type FilterArchitecture, seccompProgram } from "./seccomp.ts";

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const refused = (errno: number) => 0x00050000 | errno;
const [EPERM, ENOSYS, EAFNOSUPPORT] = [refused(1), refused(38), refused(97)];

interface Call {
  readonly nr: number;
  readonly arch: number;
  readonly args?: readonly bigint[];
}

/** Evaluates the instructions that the filter uses; anything else, or running off the end, throws. */
function evaluate(program: Uint8Array, call: Call): number {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, call.nr, true);
  data.setUint32(4, call.arch, true);
  for (const [index, value] of (call.args ?? []).entries()) {
    data.setBigUint64(16 + 8 * index, BigInt.asUintN(64, value), true);
  }
  const view = new DataView(program.buffer, program.byteOffset, program.byteLength);
  let accumulator = 0;
  for (let at = 0; at < program.length / 8; at += 1) {
    const code = view.getUint16(at * 8, true);
    const [yes, no] = [view.getUint8(at * 8 + 2), view.getUint8(at * 8 + 3)];
    const k = view.getUint32(at * 8 + 4, true);
    if (code === 0x20) accumulator = data.getUint32(k, true);
    else if (code === 0x15) at += accumulator === k ? yes : no;
    else if (code === 0x35) at += accumulator >= k ? yes : no;
    else if (code === 0x06) return k;
    else throw new Error(`unknown instruction 0x${code.toString(16)} at ${at}`);
  }
  throw new Error("the program ran off its end");
}

const architectures: readonly FilterArchitecture[] = ["x64", "arm64"];

for (const architecture of architectures) {
  const { audit, ioctl, socket, socketpair, refused: calls } = callNumbers[architecture];
  const closed = seccompProgram(architecture, { network: false });
  const open = seccompProgram(architecture, { network: true });
  const ask = (program: Uint8Array, nr: number, ...args: bigint[]) =>
    evaluate(program, { nr, arch: audit, args });

  describe(`seccompProgram("${architecture}")`, () => {
    test("kills a process that calls by another architecture's numbers", () => {
      for (const arch of [0x40000003, 0xc000003e, 0xc00000b7, 0x40000028, 0]) {
        if (arch === audit) continue;
        expect(evaluate(closed, { nr: ioctl, arch })).toBe(KILL);
      }
    });

    for (const [name, number] of Object.entries(calls)) {
      test(`refuses ${name} with EPERM`, () => {
        expect(ask(closed, number)).toBe(EPERM);
        expect(ask(open, number)).toBe(EPERM);
      });
    }

    test("says that io_uring does not exist", () => {
      expect([425, 426, 427].map((number) => ask(closed, number))).toEqual([
        ENOSYS,
        ENOSYS,
        ENOSYS,
      ]);
    });

    test("refuses TIOCSTI and TIOCLINUX whatever the high half of the request holds", () => {
      fc.assert(
        fc.property(
          fc.constantFrom(0x5412n, 0x541cn),
          fc.bigInt({ min: 0n, max: 0xffffffffn }),
          (request, high) => ask(closed, ioctl, 0n, (high << 32n) | request) === EPERM,
        ),
      );
    });

    test("allows every other ioctl", () => {
      fc.assert(
        fc.property(fc.bigInt({ min: 0n, max: 0xffffffffn }), (request) => {
          fc.pre(request !== 0x5412n && request !== 0x541cn);
          return ask(closed, ioctl, 0n, request) === ALLOW;
        }),
      );
    });

    test("without a network only unix sockets can be made", () => {
      for (const call of [socket, socketpair]) {
        const allowed = families().filter((family) => ask(closed, call, family) === ALLOW);
        expect(allowed).toEqual([1n]);
        expect(ask(closed, call, 40n)).toBe(EAFNOSUPPORT);
      }
    });

    test("with a network also inet, inet6 and netlink of the route protocol", () => {
      const allowed = families().filter((family) => ask(open, socket, family, 3n, 0n) === ALLOW);
      expect(allowed).toEqual([1n, 2n, 10n, 16n]);
      expect(ask(open, socket, 16n, 3n, 9n)).toBe(EAFNOSUPPORT);
      expect(ask(open, socket, 17n, 3n, 0n)).toBe(EAFNOSUPPORT);
    });

    test("ends every call in one of five answers, and never runs off its end", () => {
      const answers = [ALLOW, EPERM, ENOSYS, EAFNOSUPPORT, KILL];
      fc.assert(
        fc.property(
          fc.nat(600),
          fc.array(fc.bigInt(0n, 2n ** 64n - 1n), { maxLength: 6 }),
          (nr, args) => answers.includes(ask(closed, nr, ...args)),
        ),
      );
    });

    test("allows what programs are made of", () => {
      const ordinary =
        architecture === "x64" ? [0, 1, 2, 56, 59, 435] : [56, 63, 64, 220, 221, 435];
      expect(ordinary.map((number) => ask(closed, number))).toEqual(ordinary.map(() => ALLOW));
    });
  });
}

test("a call of the x32 ABI does not exist on x86-64", () => {
  const program = seccompProgram("x64", { network: true });
  const arch = callNumbers.x64.audit;
  expect(evaluate(program, { nr: 0x40000000 | 101, arch })).toBe(ENOSYS);
});

function families(): bigint[] {
  return Array.from({ length: 64 }, (_, index) => BigInt(index));
}
