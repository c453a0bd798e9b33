// Which processes a receipt that an earlier server left may speak for. Pid and start time are all that
// it says of them, and it is a file that people edit and copy; so the kernel is asked whether each is
// what it is called. What is not is nobody's here, and is neither waited for nor ended.

import { readFileSync } from "node:fs";
import { type ProcessStamp, sameProcess } from "../os/mod.ts";
import type { Receipt } from "../receipt/mod.ts";
import { isChild } from "./processes.ts";

const sandboxProgram = "bwrap";

/** The receipt without the processes that live and are not its own. */
export function provenReceipt(receipt: Receipt): Receipt {
  const { launch, root, init, ...rest } = receipt;
  const own = {
    launch: isGoneOr(launch, (stamp) => isLaunchOf(receipt, stamp)),
    root: isGoneOr(root, (stamp) => isSandboxOf(receipt, stamp)),
    init: isGoneOr(init, (stamp) => root !== undefined && isSandboxOf(receipt, stamp)),
  };
  return {
    ...rest,
    ...(launch !== undefined && own.launch ? { launch } : {}),
    ...(root !== undefined && own.root ? { root } : {}),
    ...(init !== undefined && own.root && own.init ? { init } : {}),
  };
}

/** A pid that nobody has needs no proof. */
function isGoneOr(
  stamp: ProcessStamp | undefined,
  isOwn: (stamp: ProcessStamp) => boolean,
): boolean {
  return stamp === undefined || !sameProcess(stamp) || isOwn(stamp);
}

/** Its command line shows the ticket, which is the generation. */
function isLaunchOf({ generation }: Receipt, { pid }: ProcessStamp): boolean {
  return readProc(pid, "cmdline").split("\0").includes(generation);
}

/** A sandbox of the owner, below its launch for as long as that lives. */
function isSandboxOf({ owner, launch, root }: Receipt, stamp: ProcessStamp): boolean {
  const status = readProc(stamp.pid, "status");
  if (/^Name:\t(.*)$/m.exec(status)?.[1] !== sandboxProgram) return false;
  if (Number(/^Uid:\t(\d+)/m.exec(status)?.[1]) !== owner) return false;
  const parent = stamp.pid === root?.pid ? launch : root;
  return parent === undefined || !sameProcess(parent) || isChild(stamp, parent);
}

function readProc(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return "";
  }
}
