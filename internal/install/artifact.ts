// A manifest and the executable that it binds, opened once and judged by what was opened. No symlink
// is followed on the way to either. What is installed later is copied from the same descriptor and
// judged again by its digest, so that nothing which happens to the names in between matters.

import { closeSync, fstatSync, readSync } from "node:fs";
import { posix } from "node:path";
import { CodedError, coded, fail, type Place, productVersion, quoted } from "../abi/mod.ts";
import { isCompatible, type Manifest, manifestBytesMax, parseManifest } from "../manifest/mod.ts";
import { openBeneath, openPath, readWhole, writeAll } from "../os/mod.ts";
import { runsObjectRunner } from "../tree/mod.ts";

/** Bytes of an object's executable, more than twice a compiled Bun program. Past it EMSGSIZE. */
export const executableBytesMax = 256 * 1024 * 1024;

/** Bytes that are read at once. */
const partBytes = 1024 * 1024;

/** Where a server's tool says which definition it stands for: near its start. */
const headBytes = 512;

export interface CheckedManifest {
  readonly manifest: Manifest;
  /** SHA-256 of the manifest's bytes. */
  readonly sha256: string;
  /** Of the executable; whoever gets this closes it. */
  readonly fd: number;
  /** From the line `# mcp-definition: sha256:<hex>` of the executable. */
  readonly definition: string | undefined;
  close(): void;
}

/**
 * Reads and judges a manifest and its executable; writes nothing. Throws EINVAL with file, line,
 * column and field, also for another version of this product and another digest; EACCES for what is
 * no executable regular file or lies behind a symlink.
 */
export function checkManifest(path: string, version: string = productVersion): CheckedManifest {
  const full = posix.resolve(path);
  const folder = openManifestFolder(path, posix.dirname(full));
  try {
    const bytes = readManifest(folder, posix.basename(full), path);
    const manifest = parseManifest(textOf(bytes, path), path);
    checkVersion(manifest, version);
    const fd = openExecutable(folder, manifest);
    try {
      const { sha256 } = judgeExecutable(fd, manifest);
      if (sha256 !== manifest.executable.sha256) {
        const reason = `${quoted(manifest.executable.path)} has the digest ${sha256}`;
        refuseField(manifest, "executable.sha256", reason);
      }
      const definition = definitionOf(fd, manifest);
      return { manifest, sha256: digestOf(bytes), fd, definition, close: () => closeSync(fd) };
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  } finally {
    closeSync(folder);
  }
}

export function digestOf(content: Uint8Array | string): string {
  return new Bun.CryptoHasher("sha256").update(content).digest("hex");
}

/** SHA-256 and size of an open file from its start. `use` gets every part. Throws EMSGSIZE. */
export function digestFile(fd: number, use: (part: Uint8Array) => void = () => undefined) {
  const hasher = new Bun.CryptoHasher("sha256");
  const buffer = new Uint8Array(partBytes);
  for (let bytes = 0; ; ) {
    const count = readSync(fd, buffer, 0, buffer.length, bytes);
    if (count === 0) return { sha256: hasher.digest("hex"), bytes };
    bytes += count;
    if (bytes > executableBytesMax) {
      fail("EMSGSIZE", `the executable is larger than ${executableBytesMax} bytes`);
    }
    const part = buffer.subarray(0, count);
    hasher.update(part);
    use(part);
  }
}

/** Copies the checked executable to `to`. EINVAL when it is no longer what the manifest binds. */
export function copyExecutable({ fd, manifest }: CheckedManifest, to: number) {
  const copied = digestFile(fd, (part) => writeAll(to, part));
  if (copied.sha256 === manifest.executable.sha256) return copied;
  return refuseField(
    manifest,
    "executable.sha256",
    "the executable changed while it was installed",
  );
}

/** EINVAL at a field of the manifest. */
export function refuseField(manifest: Manifest, field: string, reason: string): never {
  return refuseAt(manifest.place(field), `field ${quoted(field)}: ${reason}`);
}

function refuseAt(place: Place, reason: string): never {
  const { file, line, column } = place;
  return fail("EINVAL", `${quoted(file)} line ${line}, column ${column}: ${reason}`, { place });
}

function openManifestFolder(path: string, folder: string): number {
  const root = openPath("/", "folder");
  try {
    return openBeneath(root, folder.slice(1) || ".", "folder");
  } catch (error) {
    throw refusalOf("cannot open manifest", path, error);
  } finally {
    closeSync(root);
  }
}

function readManifest(folder: number, name: string, path: string): Uint8Array {
  try {
    const fd = openBeneath(folder, name, "read");
    try {
      return readWhole(fd, manifestBytesMax);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    throw refusalOf("cannot read manifest", path, error);
  }
}

function textOf(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    const good = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes).split("\ufffd", 1)[0];
    const lines = (good ?? "").split("\n");
    const place = { file, line: lines.length, column: (lines.at(-1) ?? "").length + 1 };
    return refuseAt(place, "text is not valid UTF-8");
  }
}

function checkVersion(manifest: Manifest, version: string): void {
  const { compatibility } = manifest;
  if (isCompatible(compatibility, version)) return;
  const reason = `this is CortexFS ${version}, which is not in ${quoted(compatibility ?? "")}`;
  refuseField(manifest, "compatibility.cortexfs", reason);
}

function openExecutable(folder: number, manifest: Manifest): number {
  const { path } = manifest.executable;
  try {
    return openBeneath(folder, path, "read");
  } catch (error) {
    throw refusalOf("cannot open executable", path, error, manifest.place("executable.path"));
  }
}

function judgeExecutable(fd: number, manifest: Manifest) {
  const facts = fstatSync(fd);
  const { path } = manifest.executable;
  const place = manifest.place("executable.path");
  if (!facts.isFile()) {
    fail("EACCES", `executable ${quoted(path)} is not a regular file`, { place });
  }
  if ((facts.mode & 0o111) === 0) {
    fail("EACCES", `executable ${quoted(path)} is not executable`, {
      place,
      hint: "chmod 755 it",
    });
  }
  if (facts.size > executableBytesMax) {
    fail("EMSGSIZE", `executable ${quoted(path)} is larger than ${executableBytesMax} bytes`, {
      place,
    });
  }
  return digestFile(fd);
}

/** The common runner asks the server for a tool with a locator, and has to know for which. */
function definitionOf(fd: number, manifest: Manifest): string | undefined {
  const head = new Uint8Array(headBytes);
  const count = readSync(fd, head, 0, head.length, 0);
  const text = new TextDecoder().decode(head.subarray(0, count));
  const found = /^# mcp-definition: sha256:([0-9a-f]{64})$/m.exec(text)?.[1];
  const isServed = manifest.controls.has("mcp") && runsObjectRunner(text);
  if (found !== undefined || !isServed) return found;
  const reason =
    "its executable has no line # mcp-definition: sha256:…, as ctxmcp project writes it";
  return refuseField(manifest, "controls.mcp", reason);
}

function refusalOf(what: string, path: string, error: unknown, place?: Place): CodedError {
  if (error instanceof CodedError) return error;
  const { code, message } = coded(error);
  const thrown = (error as NodeJS.ErrnoException).code;
  const reason =
    thrown === "ELOOP"
      ? "a symlink is on its way, and none is followed here"
      : code === "ENOENT"
        ? "it does not exist"
        : message;
  const detail = {
    cause: error,
    ...(place === undefined ? {} : { place }),
    ...(thrown === "ELOOP" ? { hint: "name the file by its real path" } : {}),
  };
  return new CodedError(code, `${what} ${quoted(path)}: ${reason}`, detail);
}
