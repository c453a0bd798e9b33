// What bootstrap remembers of its last run, `bin/cortexfs.bootstrap.json`: the digest of each control
// as it wrote it. A control that still has that digest was not touched by a person and may be
// updated. `pending` is written before a run changes anything, so that a run that was cut between
// two files is not taken for a person's edit by the next one.

import { posix } from "node:path";
import { CodedError, controlBytesMax, fail } from "../abi/mod.ts";
import { idMax } from "../control/mod.ts";
import { type FileOwner, readBeneath } from "../os/mod.ts";
import { factsBeneath, syncBeneath, writeBeneath } from "./beneath.ts";

/** Raised when a tree of an older version needs more than new text. */
export const treeVersion = 1;

export const recordPath = "bin/cortexfs.bootstrap.json";

export interface BootstrapRecord {
  readonly schema: typeof recordFormat;
  readonly tree_version: number;
  readonly owner: FileOwner;
  readonly managed: Readonly<Record<string, string>>;
  readonly pending?: Readonly<Record<string, string>>;
}

const recordFormat = "cortexfs.bootstrap/v1";

export function makeRecord(
  owner: FileOwner,
  managed: Readonly<Record<string, string>>,
): BootstrapRecord {
  const { uid, gid } = owner;
  return { schema: recordFormat, tree_version: treeVersion, owner: { uid, gid }, managed };
}

export function digestOf(content: string | Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(content).digest("hex");
}

/** Undefined when the tree was never bootstrapped. EIO when the file is not what bootstrap wrote. */
export function readRecord(root: number): BootstrapRecord | undefined {
  if (factsBeneath(root, recordPath) === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(readBeneath(root, recordPath, controlBytesMax)));
  } catch (error) {
    throw damaged("it is not readable JSON", error);
  }
  const fault = faultOf(value);
  if (fault !== undefined) throw damaged(fault);
  return value as BootstrapRecord;
}

// By hand and not by zod: every command that opens a tree would pay for loading it.
function faultOf(value: unknown): string | undefined {
  if (!isObject(value)) return "it is not a JSON object";
  if (value["schema"] !== recordFormat) return `schema is not "${recordFormat}"`;
  const version = value["tree_version"];
  if (typeof version !== "number" || version < 1) return "tree_version is not a positive number";
  if (version > treeVersion) return `tree_version ${version} is newer than ${treeVersion}`;
  const owner = value["owner"];
  if (!isObject(owner) || !isId(owner["uid"]) || !isId(owner["gid"])) return "owner is not valid";
  if (!isDigests(value["managed"])) return "managed does not map paths to digests";
  const pending = value["pending"];
  if (pending !== undefined && !isDigests(pending)) return "pending does not map paths to digests";
  return undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isId(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= idMax;
}

function isDigests(value: unknown): boolean {
  if (!isObject(value)) return false;
  return Object.values(value).every((item) => /^[0-9a-f]{64}$/.test(String(item)));
}

export function writeRecord(root: number, record: BootstrapRecord): void {
  writeBeneath(root, recordPath, `${JSON.stringify(record, null, 1)}\n`, 0o644, undefined);
  syncBeneath(root, [posix.dirname(recordPath)]);
}

function damaged(reason: string, cause?: unknown): CodedError {
  return new CodedError("EIO", `cannot use "${recordPath}": ${reason}`, {
    hint: "remove it and bootstrap again; controls that differ from the built-in text are kept then",
    cause,
  });
}

/** A tree keeps its owner: sessions and homes are the owner's. */
export function checkOwner(record: BootstrapRecord | undefined, owner: FileOwner): void {
  if (record === undefined) return;
  const { uid, gid } = record.owner;
  if (uid === owner.uid) return;
  fail("EINVAL", `the tree belongs to uid ${uid}, not to ${owner.uid}`, {
    hint: `bootstrap it with owner ${uid} (gid ${gid}), or choose another tree`,
  });
}
