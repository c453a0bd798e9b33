// An object that a receipt speaks of, as it is now. Only what is still the very file that was
// installed, with the very content, is ever replaced or removed.

import { closeSync, lstatSync } from "node:fs";
import { CodedError, coded, fail, quoted } from "../abi/mod.ts";
import { openBeneath, readBeneath, throughFolder } from "../os/mod.ts";
import type { Tree } from "../tree/mod.ts";
import { digestFile, digestOf } from "./artifact.ts";
import { type InstallReceipt, parseReceipt, receiptName } from "./receipt.ts";
import { type FileIdentity, identityOf, sameFile } from "./staged.ts";
import { type ObjectPlace, objectPlace } from "./target.ts";

/** Bytes of a receipt. Past it no receipt of ours. */
const receiptBytesMax = 64 * 1024;

export interface Managed {
  readonly receipt: InstallReceipt;
  /** SHA-256 of the receipt's bytes. */
  readonly receiptSha256: string;
  /** Of the folder of controls. */
  readonly controls: FileIdentity;
}

/** The receipt below an open folder that holds `name.d`. ENOENT without one, EINVAL when damaged. */
export function receiptBeneath(
  folder: number,
  place: ObjectPlace,
  controls = `${place.name}.d`,
): { receipt: InstallReceipt; sha256: string } {
  const file = `${place.folder}/${controls}/${receiptName}`;
  let bytes: Uint8Array;
  try {
    bytes = readBeneath(folder, `${controls}/${receiptName}`, receiptBytesMax);
  } catch (error) {
    const { code, message } = coded(error);
    if (code === "ENOENT") return fail("ENOENT", `"${place.object}" has no receipt`);
    return fail(code, `cannot read ${quoted(file)}: ${message}`, { cause: error });
  }
  const receipt = parseReceipt(new TextDecoder().decode(bytes), file, place.object);
  return { receipt, sha256: digestOf(bytes) };
}

/**
 * The object whole and as it was installed. Throws ENOENT when it is not there, EACCES when no
 * receipt speaks of it or the executable is another, EINVAL for a damaged receipt.
 */
export function managedObject(folder: number, place: ObjectPlace): Managed {
  const { object, name } = place;
  const found = lstatSync(throughFolder(folder, name), { throwIfNoEntry: false });
  if (found === undefined) fail("ENOENT", `${quoted(object)} does not exist`, {});
  const { receipt, sha256 } = ownReceipt(folder, place);
  const fault = executableFault(folder, name, receipt);
  if (fault !== undefined) {
    fail(
      "EACCES",
      `the executable of ${quoted(object)} is not the one that was installed: ${fault}`,
      {
        hint: `see ctx object inspect ${object}; what a person put there a person removes`,
      },
    );
  }
  const controls = openBeneath(folder, `${name}.d`, "folder");
  try {
    return { receipt, receiptSha256: sha256, controls: identityOf(controls) };
  } finally {
    closeSync(controls);
  }
}

function ownReceipt(folder: number, place: ObjectPlace) {
  try {
    return receiptBeneath(folder, place);
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== "ENOENT") throw error;
    return fail("EACCES", `${quoted(place.object)} was not installed: it has no receipt`, {
      hint: "only what ctx object install made is replaced or removed here",
    });
  }
}

/** Why the executable is not the receipt's; undefined when it is, to the last byte. */
export function executableFault(
  folder: number,
  name: string,
  { executable }: InstallReceipt,
): string | undefined {
  let fd: number;
  try {
    fd = openBeneath(folder, name, "read");
  } catch (error) {
    const thrown = (error as NodeJS.ErrnoException).code;
    return thrown === "ELOOP" ? "it is a symlink" : coded(error).message;
  }
  try {
    const found = identityOf(fd);
    if (!sameFile(found, executable)) {
      const words = ({ dev, ino }: FileIdentity) => `device ${dev}, inode ${ino}`;
      return `it is another file, of ${words(found)} and not of ${words(executable)}`;
    }
    return digestFile(fd).sha256 === executable.sha256 ? undefined : "its content has changed";
  } catch (error) {
    return coded(error).message;
  } finally {
    closeSync(fd);
  }
}

export interface Inspection extends ObjectPlace {
  readonly receipt: InstallReceipt;
  /** Undefined: the executable is the very file that was installed. */
  readonly fault: string | undefined;
}

/** What was installed and whether it still is what is there. Takes no lock and writes nothing. */
export function inspectObject(tree: Tree, path: string): Inspection {
  const place = objectPlace(path);
  let folder: number;
  try {
    folder = openBeneath(tree.folder, place.folder, "folder");
  } catch (error) {
    const { code, message } = coded(error);
    return fail(code, `cannot look at ${quoted(place.object)}: ${message}`, { cause: error });
  }
  try {
    const facts = lstatSync(throughFolder(folder, place.name), { throwIfNoEntry: false });
    const hasControls = lstatSync(throughFolder(folder, `${place.name}.d`), {
      throwIfNoEntry: false,
    });
    if (facts === undefined && hasControls === undefined) {
      fail("ENOENT", `${quoted(place.object)} does not exist`);
    }
    const { receipt } = ownReceipt(folder, place);
    return { ...place, receipt, fault: executableFault(folder, place.name, receipt) };
  } finally {
    closeSync(folder);
  }
}
