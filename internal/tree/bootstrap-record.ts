// What bootstrap remembers of its last run, `bin/cortexfs.bootstrap.json`: the digest of each control
// as it wrote it. A control that still has that digest was not touched by a person and may be
// updated. `pending` is written before a run changes anything, so that a run that was cut between
// two files is not taken for a person's edit by the next one.

import { createHash } from "node:crypto";
import { z } from "zod";
import { CodedError, controlBytesMax, fail } from "../abi/mod.ts";
import { type FileOwner, readBeneath } from "../os/mod.ts";
import { factsBeneath, writeBeneath } from "./beneath.ts";

export const recordPath = "bin/cortexfs.bootstrap.json";

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const id = z.int().min(0).max(4_294_967_294);

const recordSchema = z.strictObject({
  schema: z.literal("cortexfs.bootstrap/v1"),
  tree_version: z.int().positive(),
  owner: z.strictObject({ uid: id, gid: id }),
  managed: z.record(z.string(), digest),
  pending: z.record(z.string(), digest).optional(),
});

export type BootstrapRecord = z.infer<typeof recordSchema>;

export function digestOf(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
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
  const parsed = recordSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw damaged(`${issue?.path.join(".") || "the value"}: ${issue?.message ?? "it is wrong"}`);
}

export function writeRecord(root: number, record: BootstrapRecord): void {
  writeBeneath(root, recordPath, `${JSON.stringify(record, null, 1)}\n`, 0o644, undefined);
}

function damaged(reason: string, cause?: unknown): CodedError {
  return new CodedError("EIO", `cannot use "${recordPath}": ${reason}`, {
    hint: "remove it and bootstrap again: controls that differ from the built-in text are then kept",
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
