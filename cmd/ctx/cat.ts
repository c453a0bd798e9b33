// `ctx cat`: a file of the tree. On a terminal what it holds is escaped; in a pipe it is untouched.

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { fail } from "../../internal/abi/mod.ts";
import {
  escapeText,
  everyCommandFlags,
  isTerminal,
  parseFlags,
  printJson,
  printRaw,
  unreadable,
  viewPath,
  writeBytes,
} from "../../internal/cli/mod.ts";
import { rootOf } from "./root.ts";

export const help = `Usage: ctx cat PATH... [--json]

Prints files of the tree. On a terminal control characters are shown escaped; into a pipe or a
file the bytes go as they are.

Options:
  --json         One JSON object a file: path, content
  --source DIR   Source tree (default: CTX_SOURCE)
  --root DIR     View of the tree (default: CTX_ROOT)

Example:
  ctx cat agent/coder.d/policy
`;

/** Bytes copied at once. */
const chunkBytes = 64 * 1024;

/** A file that is printed as one JSON value. Past it EMSGSIZE. */
const jsonFileBytesMax = 8 * 1024 * 1024;

export function runFast(argv: readonly string[]): number {
  const flags = parseFlags(argv, everyCommandFlags);
  if (flags.words.length === 0) fail("EINVAL", "cat needs a path", { hint: "see ctx cat --help" });
  const root = rootOf(flags.value.get("root"), flags.value.get("source"));
  for (const path of flags.words) {
    const fd = openFile(viewPath(root, path), path, root);
    try {
      if (flags.on.has("json")) printJson({ path, content: wholeText(fd, path) });
      else copy(fd);
    } finally {
      closeSync(fd);
    }
  }
  return 0;
}

/** Opens a regular file without waiting: the tree holds sockets and may hold pipes. */
function openFile(path: string, shown: string, root: string): number {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (error) {
    if ((error as { code?: string }).code === "ENXIO") return refuse(shown);
    return unreadable("print", shown, error, root);
  }
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  return refuse(shown);
}

function refuse(shown: string): never {
  return fail("EINVAL", `cannot print ${JSON.stringify(shown)}: it is not a regular file`, {
    hint: "list a folder with ctx ls",
  });
}

function copy(fd: number): void {
  const decoder = isTerminal(1) ? new TextDecoder() : undefined;
  const buffer = new Uint8Array(chunkBytes);
  for (;;) {
    const count = readSync(fd, buffer);
    if (count === 0) break;
    const chunk = buffer.subarray(0, count);
    if (decoder) printRaw(escapeText(decoder.decode(chunk, { stream: true })));
    else writeBytes(1, chunk);
  }
  if (decoder) printRaw(escapeText(decoder.decode()));
}

function wholeText(fd: number, shown: string): string {
  const { size } = fstatSync(fd);
  if (size > jsonFileBytesMax) {
    fail("EMSGSIZE", `${JSON.stringify(shown)} is larger than ${jsonFileBytesMax} bytes`);
  }
  const parts: string[] = [];
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(chunkBytes);
  for (let count = readSync(fd, buffer); count > 0; count = readSync(fd, buffer)) {
    parts.push(decoder.decode(buffer.subarray(0, count), { stream: true }));
  }
  return parts.join("") + decoder.decode();
}
