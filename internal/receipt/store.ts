// The receipts of one server: a file each, in a folder that only the server can write, because a stop
// believes what is in them. They go with the runtime folder at a reboot, as the processes do.

import { closeSync, readdirSync, unlinkSync } from "node:fs";
import { coded, fail, isObjectName } from "../abi/mod.ts";
import { openPath, readBeneath, replaceFile, throughFolder } from "../os/mod.ts";
import type { Receipt } from "./types.ts";

/** One receipt. Past it the file is no receipt of ours. */
const receiptBytesMax = 64 * 1024;

const suffix = ".json";

/** The ids of two terminals can be equal, `a-b` with `c` and `a` with `b-c`; no name has an "@". */
function fileOf({ agent, session }: Pick<Receipt, "agent" | "session">): string {
  return `${agent}@${session}${suffix}`;
}

export interface BrokenReceipt {
  readonly name: string;
  readonly reason: string;
}

export class Receipts {
  readonly #folder: number;

  /** `path` is a folder that only the server can use; whoever makes it has seen to that. */
  constructor(path: string) {
    this.#folder = openPath(path, "folder");
  }

  /** The old receipt or the new one is on disk, never a part. */
  write(receipt: Receipt): void {
    // A reboot takes the whole folder, so nothing needs to survive a power cut.
    const options = { mode: 0o600, durable: false };
    replaceFile(this.#folder, fileOf(receipt), `${JSON.stringify(receipt)}\n`, options);
  }

  /** Only while it is still that generation's: a successor's stays. */
  remove(receipt: Pick<Receipt, "agent" | "session" | "generation">): void {
    const name = fileOf(receipt);
    try {
      if (this.#read(name).generation !== receipt.generation) return;
      unlinkSync(throughFolder(this.#folder, name));
    } catch (error) {
      if (coded(error).code !== "ENOENT") throw error;
    }
  }

  /** Undefined when there is none. */
  find(of: Pick<Receipt, "agent" | "session">): Receipt | undefined {
    try {
      return this.#read(fileOf(of));
    } catch (error) {
      if (coded(error).code === "ENOENT") return undefined;
      throw error;
    }
  }

  /** All that can be read; what cannot is named and left alone. */
  all(): { readonly receipts: readonly Receipt[]; readonly broken: readonly BrokenReceipt[] } {
    const receipts: Receipt[] = [];
    const broken: BrokenReceipt[] = [];
    for (const name of readdirSync(throughFolder(this.#folder, "."))) {
      if (!name.endsWith(suffix) || name.startsWith(".")) continue;
      try {
        receipts.push(this.#read(name));
      } catch (error) {
        broken.push({ name, reason: coded(error).message });
      }
    }
    return { receipts, broken };
  }

  close(): void {
    closeSync(this.#folder);
  }

  #read(name: string): Receipt {
    const bytes = readBeneath(this.#folder, name, receiptBytesMax);
    return parseReceipt(new TextDecoder().decode(bytes), name);
  }
}

/** Throws EIO for what is no receipt. */
export function parseReceipt(text: string, name: string): Receipt {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    return fail("EIO", `receipt "${name}" is not JSON`, { cause });
  }
  const fault = faultOf(value) ?? nameFaultOf(value as Receipt, name);
  if (fault !== undefined) fail("EIO", `receipt "${name}" is damaged: ${fault}`);
  return value as Receipt;
}

const texts = ["id", "agent", "session", "socket", "control", "folder", "view", "started_at"];

function faultOf(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "it is no object";
  const fields = value as Readonly<Record<string, unknown>>;
  if (fields["kind"] !== "terminal") return "its kind is not known";
  const odd = texts.find((name) => typeof fields[name] !== "string");
  if (odd !== undefined) return `"${odd}" is not a text`;
  if (!/^[0-9a-f]{32}$/.test(String(fields["generation"]))) return `"generation" is not one`;
  if (!Number.isSafeInteger(fields["owner"])) return `"owner" is not a uid`;
  const { supervisor, unit, invocation } = fields;
  if (supervisor !== "systemd" && supervisor !== "builtin") return `"supervisor" is not known`;
  for (const [name, one] of Object.entries({ unit, invocation })) {
    if (one !== undefined && typeof one !== "string") return `"${name}" is not a text`;
  }
  for (const name of ["launch", "root", "init"]) {
    if (fields[name] !== undefined && !isStamp(fields[name])) return `"${name}" names no process`;
  }
  return typeof fields["ready"] === "boolean" ? undefined : `"ready" is neither true nor false`;
}

/** Paths are made of the names, and a stop finds the receipt by them. */
function nameFaultOf(receipt: Receipt, name: string): string | undefined {
  const { id, agent, session } = receipt;
  if (!isObjectName(agent) || !isObjectName(session)) return "its names are not valid";
  if (id !== `terminal-${agent}-${session}`) return `"id" is not of its names`;
  return name === fileOf(receipt) ? undefined : "it is another terminal's";
}

function isStamp(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { pid, startTime } = value as Readonly<Record<string, unknown>>;
  // Never 0, 1 or below: a signal to such a number goes to many.
  return (
    Number.isSafeInteger(pid) &&
    Number(pid) > 1 &&
    typeof startTime === "string" &&
    /^[0-9]{1,20}$/.test(startTime)
  );
}
