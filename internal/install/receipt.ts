// The receipt of an installed object, `<object>.d/install.json`: what was installed, by which digests,
// and which file became the executable. It is believed only when every field is what it must be, and
// it grants nothing.

import { CodedError, fail, isObjectName, quoted } from "../abi/mod.ts";
import { type JsonObject, parseJsonObject } from "../control/mod.ts";
import { readControl, type Tree } from "../tree/mod.ts";

export const receiptSchema = "cortexfs.object-install/v2";

export type InstallTier = "system" | "user";
export type ObjectClass = "tool" | "agent";

export interface InstallReceipt {
  readonly schema: typeof receiptSchema;
  readonly class: ObjectClass;
  readonly name: string;
  /** Null for an object of a v1 manifest, which has none. */
  readonly version: string | null;
  readonly tier: InstallTier;
  readonly executable: {
    /** Decimal, since both can be larger than a number holds exactly. */
    readonly dev: string;
    readonly ino: string;
    readonly sha256: string;
    readonly bytes: number;
  };
  readonly manifest_sha256: string;
  /** Of a server's tool: SHA-256 of the definition that the server gave. */
  readonly definition?: string;
  /** RFC 3339, UTC. */
  readonly installed_at: string;
  /** SHA-256 of the receipt that this one replaced. */
  readonly previous?: string;
}

/** Name of the receipt in the folder of controls. */
export const receiptName = "install.json";

/**
 * The receipt of an object of the tree, e.g. "tool/x" or "home/1000/tool/x"; undefined without one.
 * Throws EINVAL with the place when it is damaged or another object's, EACCES for a symlink.
 */
export function readInstallReceipt(tree: Tree, object: string): InstallReceipt | undefined {
  const file = `${object}.d/${receiptName}`;
  let text: string;
  try {
    text = readControl(tree, file);
  } catch (error) {
    if (error instanceof CodedError && error.code === "ENOENT") return undefined;
    throw error;
  }
  return parseReceipt(text, file, object);
}

/** The file's whole text: one member a line, in a fixed order. */
export function receiptText(receipt: InstallReceipt): string {
  return `${JSON.stringify(receipt, null, 2)}\n`;
}

/** The receipt in `text`, which `file` holds, of the object at that path of the tree. */
export function parseReceipt(text: string, file: string, object: string): InstallReceipt {
  const parsed = parseJsonObject(text);
  if (!parsed.ok) return damaged(file, parsed.line, parsed.column, parsed.reason);
  const wrong = faultOf(parsed.value) ?? ownerFault(parsed.value, object);
  if (wrong === undefined) return parsed.value as unknown as InstallReceipt;
  const { field } = wrong;
  const at = field === undefined ? 0 : Math.max(text.indexOf(`"${field}"`), 0);
  const before = text.slice(0, at);
  const line = before.split("\n").length;
  return damaged(file, line, at - before.lastIndexOf("\n"), wrong.reason);
}

function damaged(file: string, line: number, column: number, reason: string): never {
  return fail("EINVAL", `${quoted(file)} line ${line}, column ${column}: ${reason}`, {
    place: { file, line, column },
    hint: "the receipt is damaged: put it back, or move the object away and install it again",
  });
}

interface Fault {
  /** Undefined when it is the absence of one. */
  readonly field?: string;
  readonly reason: string;
}

type Check = (value: unknown) => boolean;

const isSha256: Check = (value) => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
const isDecimal: Check = (value) => typeof value === "string" && /^[0-9]{1,20}$/.test(value);
const isTime: Check = (value) =>
  typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(value);
const isVersion: Check = (value) =>
  value === null || (typeof value === "string" && /^[0-9A-Za-z.+-]{1,256}$/.test(value));
const oneOf =
  (...words: readonly string[]): Check =>
  (value) =>
    typeof value === "string" && words.includes(value);

const fields: Readonly<Record<string, Check>> = {
  schema: oneOf(receiptSchema),
  class: oneOf("tool", "agent"),
  name: (value) => typeof value === "string" && isObjectName(value),
  version: isVersion,
  tier: oneOf("system", "user"),
  executable: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  manifest_sha256: isSha256,
  definition: isSha256,
  installed_at: isTime,
  previous: isSha256,
};

const executableFields: Readonly<Record<string, Check>> = {
  dev: isDecimal,
  ino: isDecimal,
  sha256: isSha256,
  bytes: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
};

const mayBeAbsent: readonly string[] = ["definition", "previous"];

function faultOf(receipt: JsonObject): Fault | undefined {
  return (
    tableFault(receipt, fields) ?? tableFault(receipt["executable"] as JsonObject, executableFields)
  );
}

function tableFault(value: JsonObject, table: Readonly<Record<string, Check>>): Fault | undefined {
  const odd = Object.keys(value).find((field) => !Object.hasOwn(table, field));
  if (odd !== undefined) return { field: odd, reason: `field ${quoted(odd)} is not known` };
  for (const [field, holds] of Object.entries(table)) {
    if (!Object.hasOwn(value, field)) {
      if (mayBeAbsent.includes(field)) continue;
      return { reason: `field "${field}" is missing` };
    }
    if (!holds(value[field])) return { field, reason: `"${field}" is not what it must be` };
  }
  return undefined;
}

/** A receipt that was copied from elsewhere speaks of another object. */
function ownerFault(receipt: JsonObject, object: string): Fault | undefined {
  const path = objectPath(receipt as unknown as InstallReceipt, object);
  if (path === object) return undefined;
  return { field: "name", reason: `it is the receipt of ${quoted(path)}` };
}

function objectPath({ class: kind, name, tier }: InstallReceipt, object: string): string {
  const home = /^home\/[0-9]+(?=\/)/.exec(object)?.[0] ?? "home/UID";
  return tier === "user" ? `${home}/${kind}/${name}` : `${kind}/${name}`;
}
