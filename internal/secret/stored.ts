// One file of the secret store. Folders are 0700 and files 0600, of the store's owner; anything else is
// refused, never repaired, because a key that others could read has to be changed and not just hidden.
// No message holds a byte of a secret.

import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  type Stats,
  unlinkSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { CodedError, coded, fail } from "../abi/mod.ts";
import { openBeneath, readWhole, replaceFile, syncFolder, TooLong } from "../os/mod.ts";

/** The part of the places that this store needs. */
export interface SecretPlaces {
  readonly secrets: string;
  /** Who must own the store: the uid of the process that uses it. */
  readonly uid: number;
}

/** One secret, its last newline not counted. Past it EMSGSIZE; it is neither read nor written. */
export const secretBytesMax = 64 * 1024;

/** As `readSecret`, of the file at a path `<secrets>/<kind>/<owner>/<slot>`. */
export function readStored(places: SecretPlaces, file: string): string | undefined {
  return guarded("read", file, () => {
    const folder = openStore(places, file, false);
    if (folder === undefined) return undefined;
    try {
      return readText(folder, basename(file), places.uid, file);
    } finally {
      closeSync(folder);
    }
  });
}

/** As `writeSecret`. */
export function writeStored(places: SecretPlaces, file: string, value: string): void {
  const text = stripNewline(value);
  checkText(text, file);
  guarded("write", file, () => {
    const folder = openStore(places, file, true);
    if (folder === undefined) fail("EIO", `secret folder of "${file}" vanished`);
    try {
      checkReplaced(folder, basename(file), places.uid, file);
      replaceFile(folder, basename(file), `${text}\n`, { mode: 0o600 });
    } finally {
      closeSync(folder);
    }
  });
}

/** As `removeSecret`. */
export function removeStored(places: SecretPlaces, file: string): boolean {
  return guarded("remove", file, () => {
    const folder = openStore(places, file, false);
    if (folder === undefined) return false;
    closeSync(folder);
    try {
      unlinkSync(file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
      throw error;
    }
    syncFolder(dirname(file));
    return true;
  });
}

/** Names of the files beside a path, in order; none when there is no such folder. */
export function listStored(places: SecretPlaces, file: string): readonly string[] {
  return guarded("list", file, () => {
    return namesIn(openStore(places, file, false));
  });
}

/** Whose secrets of a kind there are, in order; those of one who has none any more are still named. */
export function listOwners(places: SecretPlaces, kind: string): readonly string[] {
  const folder = join(places.secrets, kind);
  return guarded("list", folder, () => namesIn(openChain(places, [places.secrets, folder], false)));
}

function namesIn(folder: number | undefined): readonly string[] {
  if (folder === undefined) return [];
  try {
    const names = readdirSync(`/proc/self/fd/${folder}`);
    // A temporary file of a write that was cut off begins with a dot, and so does no name.
    return names.filter((name) => !name.startsWith(".")).sort();
  } finally {
    closeSync(folder);
  }
}

function openStore(places: SecretPlaces, file: string, make: boolean): number | undefined {
  const folder = dirname(file);
  return openChain(places, [places.secrets, dirname(folder), folder], make);
}

/** Opens the last folder of a chain after a look at each from the store's own down. */
function openChain(
  places: SecretPlaces,
  chain: readonly [string, ...string[]],
  make: boolean,
): number | undefined {
  const folder = chain.at(-1) ?? chain[0];
  for (const path of chain) {
    if (make) makeFolder(path, places.uid);
    const facts = lstatSync(path, { throwIfNoEntry: false });
    if (facts === undefined) return undefined;
    checkEntry(facts, path, "folder", places.uid);
  }
  const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    checkEntry(fstatSync(fd), folder, "folder", places.uid);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function makeFolder(path: string, uid: number): void {
  if (uid !== process.geteuid?.()) {
    fail("EACCES", `secret folder "${path}" is written only by uid ${uid}`);
  }
  if (lstatSync(path, { throwIfNoEntry: false })) return;
  // Folders above the store are not the store's: others may have to pass through them.
  mkdirSync(dirname(path), { mode: 0o755, recursive: true });
  mkdirSync(path, { mode: 0o700 });
  chmodSync(path, 0o700);
  syncFolder(dirname(path));
}

function readText(folder: number, slot: string, uid: number, file: string): string | undefined {
  let fd: number;
  try {
    fd = openBeneath(folder, slot, "read");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (code === "ELOOP") refuse(file, "is a symlink", "remove it and store the secret again");
    throw error;
  }
  try {
    checkEntry(fstatSync(fd), file, "file", uid);
    const bytes = readWhole(fd, secretBytesMax + 1);
    const text = stripNewline(decode(bytes, file));
    checkText(text, file);
    return text;
  } catch (error) {
    if (error instanceof TooLong) tooLong(file);
    throw error;
  } finally {
    closeSync(fd);
  }
}

/** A file in the way of a write must be one of ours too, so that a trap is named, not buried. */
function checkReplaced(folder: number, slot: string, uid: number, file: string): void {
  const facts = lstatSync(`/proc/self/fd/${folder}/${slot}`, { throwIfNoEntry: false });
  if (facts) checkEntry(facts, file, "file", uid);
}

function checkEntry(facts: Stats, path: string, kind: "folder" | "file", uid: number): void {
  const right = kind === "folder" ? facts.isDirectory() : facts.isFile();
  if (facts.isSymbolicLink()) refuse(path, "is a symlink", "remove it");
  if (!right) refuse(path, `is not a ${kind}`, "remove it");
  if (facts.uid !== uid) {
    refuse(path, `belongs to uid ${facts.uid}, not to ${uid}`, `run chown ${uid} "${path}"`);
  }
  if ((facts.mode & 0o077) !== 0) {
    const octal = (facts.mode & 0o777).toString(8).padStart(4, "0");
    const wanted = kind === "folder" ? "0700" : "0600";
    refuse(
      path,
      `is open to others (mode ${octal})`,
      `change the secret if somebody may have read it, then run chmod ${wanted} "${path}"`,
    );
  }
}

function decode(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return fail("EINVAL", `secret "${file}" is not UTF-8 text`);
  }
}

function checkText(text: string, file: string): void {
  if (text === "") fail("EINVAL", `secret "${file}" is empty`);
  if (text.includes("\0")) fail("EINVAL", `secret "${file}" holds a NUL byte`);
  if (Buffer.byteLength(text) > secretBytesMax) tooLong(file);
}

function tooLong(file: string): never {
  return fail("EMSGSIZE", `secret "${file}" is larger than ${secretBytesMax} bytes`);
}

function stripNewline(text: string): string {
  return text.replace(/\r?\n$/, "");
}

function refuse(path: string, reason: string, hint: string): never {
  return fail("EACCES", `cannot use secret "${path}": it ${reason}`, { hint });
}

function guarded<T>(action: string, file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof CodedError) throw error;
    const { code, message } = coded(error);
    return fail(code, `cannot ${action} secret "${file}": ${message}`, { cause: error });
  }
}
