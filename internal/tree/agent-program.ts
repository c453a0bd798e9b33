// The program of an agent that is not run by `ctx`: opened once, judged by what was opened, copied
// from that descriptor. The copy belongs to the tree; the original may change or go.

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { CodedError, coded, fail, quoted } from "../abi/mod.ts";
import { openBeneath, writeAll } from "../os/mod.ts";
import { runsObjectRunner } from "./agent.ts";

/** Bytes of an agent's program, more than twice a compiled Bun program. Past it EMSGSIZE. */
export const agentProgramBytesMax = 256 * 1024 * 1024;

/** Bytes that are copied at once. */
const copyBytes = 1024 * 1024;

export interface AgentProgram {
  readonly fd: number;
  /** As the person named it. */
  readonly path: string;
  /** SHA-256 of the content when it was opened. */
  readonly digest: string;
  close(): void;
}

/**
 * Opens a regular executable file that is no symlink. Throws EACCES for anything else, EMSGSIZE when
 * it is too large, EINVAL when it is empty or the object file of a model agent.
 */
export function openProgram(path: string): AgentProgram {
  return opened(path, () =>
    // NONBLOCK: a pipe in its place is refused and not waited for.
    openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK),
  );
}

/** The same below a folder, `path` being its name for messages. */
export function openProgramBeneath(folder: number, name: string, path: string): AgentProgram {
  return opened(path, () => openBeneath(folder, name, "read"));
}

function opened(path: string, open: () => number): AgentProgram {
  let fd: number | undefined;
  try {
    fd = open();
    const kept = fd;
    const digest = judge(kept, path);
    return { fd: kept, path, digest, close: () => closeSync(kept) };
  } catch (error) {
    if (fd !== undefined) closeSync(fd);
    if (error instanceof CodedError) throw error;
    const { code, message } = coded(error);
    const thrown = (error as NodeJS.ErrnoException).code;
    const reason =
      thrown === "ELOOP" ? "it is a symlink" : code === "ENOENT" ? "it does not exist" : message;
    return fail(code, `cannot use program ${quoted(path)}: ${reason}`, { cause: error });
  }
}

function judge(fd: number, path: string): string {
  const facts = fstatSync(fd);
  if (!facts.isFile()) fail("EACCES", `program ${quoted(path)} is not a regular file`);
  if ((facts.mode & 0o111) === 0) {
    fail("EACCES", `program ${quoted(path)} is not executable`, { hint: `chmod +x ${path}` });
  }
  if (facts.size > agentProgramBytesMax) {
    fail("EMSGSIZE", `program ${quoted(path)} is larger than ${agentProgramBytesMax} bytes`);
  }
  if (facts.size === 0) fail("EINVAL", `program ${quoted(path)} is empty`);
  const head = new Uint8Array(256);
  const count = readSync(fd, head, 0, head.length, 0);
  if (runsObjectRunner(new TextDecoder().decode(head.subarray(0, count)))) {
    fail("EINVAL", `${quoted(path)} is a model agent's object file and no program`, {
      hint: "leave it out: without a program the agent gets an object file of its own",
    });
  }
  return digestOfFile(fd);
}

/** SHA-256 of an open file's whole content. Throws EMSGSIZE past the bound. */
export function digestOfFile(fd: number): string {
  const hasher = new Bun.CryptoHasher("sha256");
  eachPart(fd, (part) => hasher.update(part));
  return hasher.digest("hex");
}

/** Copies the program to a new file. Throws EIO when it changed since it was opened. */
export function copyProgram(program: AgentProgram, to: number): void {
  const hasher = new Bun.CryptoHasher("sha256");
  eachPart(program.fd, (part) => {
    hasher.update(part);
    writeAll(to, part);
  });
  if (hasher.digest("hex") === program.digest) return;
  fail("EIO", `program ${quoted(program.path)} changed while it was copied`, {
    hint: "try again when nobody writes to it",
  });
}

function eachPart(fd: number, use: (part: Uint8Array) => void): void {
  const buffer = new Uint8Array(copyBytes);
  for (let offset = 0; ; ) {
    const count = readSync(fd, buffer, 0, buffer.length, offset);
    if (count === 0) return;
    offset += count;
    if (offset > agentProgramBytesMax) {
      fail("EMSGSIZE", `program is larger than ${agentProgramBytesMax} bytes`);
    }
    use(buffer.subarray(0, count));
  }
}
