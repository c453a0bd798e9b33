// Adding one line to a control that is a list. Two of them at once lose nothing: each reads and
// replaces the file under a lock of its folder.

import { closeSync } from "node:fs";
import { coded, fail, quoted } from "../abi/mod.ts";
import type { ControlClass } from "../control/mod.ts";
import { openBeneath, tryLock } from "../os/mod.ts";
import { controlAt, readOptional, writeControl } from "./control-file.ts";
import type { Tree } from "./open.ts";

/** Controls that hold one item a line. The others hold one value, or a text that is a whole. */
const listControls: Readonly<Record<ControlClass, readonly string[]>> = {
  agent: ["groups", "env", "path", "mount", "model", "policy", "tools"],
  tool: ["cap", "policy", "config"],
  model: ["cap", "fallback", "policy"],
};

/** Milliseconds to wait for another append to the same object. Past it `busy`. */
const appendLockMs = 10_000;

/** Pause between two looks at the lock, in milliseconds. */
const appendPauseMs = 5;

/**
 * Adds the line durably, when the control is valid with it; an absent control is made. False when the
 * very line is there already: then nothing is written. Throws EINVAL for a control that is no list,
 * for a text of more than one line, and with the place for a line that the grammar refuses.
 */
export function appendControl(tree: Tree, relative: string, line: string): boolean {
  const { kind, name } = controlAt(relative);
  if (!listControls[kind].includes(name)) {
    fail("EINVAL", `${quoted(relative)} is not a list, no line can be added to it`, {
      hint: `replace it with ctx set; lists of ${kind} are ${listControls[kind].join(" ")}`,
    });
  }
  if (line.includes("\n")) fail("EINVAL", "only one line can be added at a time");
  return locked(tree, relative.slice(0, relative.lastIndexOf("/")), () => {
    const before = readOptional(tree, relative) ?? "";
    if (before.split("\n").slice(0, -1).includes(line)) return false;
    // A last line that was cut is not completed by ours: the grammar names it.
    if (before !== "" && !before.endsWith("\n")) {
      fail("EINVAL", `last line of ${quoted(relative)} does not end in a newline`);
    }
    writeControl(tree, relative, `${before}${line}\n`);
    return true;
  });
}

function locked<T>(tree: Tree, relative: string, work: () => T): T {
  const folder = openFolder(tree, relative);
  try {
    const deadline = performance.now() + appendLockMs;
    while (!tryLock(folder)) {
      if (performance.now() > deadline) {
        fail("busy", `another command changes ${quoted(relative)}`, { hint: "try again" });
      }
      Bun.sleepSync(appendPauseMs);
    }
    return work();
  } finally {
    closeSync(folder);
  }
}

function openFolder(tree: Tree, relative: string): number {
  try {
    return openBeneath(tree.folder, relative, "folder");
  } catch (error) {
    const { code, message } = coded(error);
    const reason = code === "ENOENT" ? "it does not exist" : message;
    return fail(code, `cannot change ${quoted(relative)}: ${reason}`, { cause: error });
  }
}
