// `ctx bootstrap`: makes a tree or brings one up to date.

import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fail } from "../../internal/abi/mod.ts";
import { print, printJson } from "../../internal/cli/mod.ts";
import { supplementaryGroups } from "../../internal/os/mod.ts";
import {
  type BootstrapReport,
  bootstrap,
  resolvePlaces,
  treeOwner,
} from "../../internal/tree/mod.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { callerUid } from "./context.ts";

export const spec: CommandSpec = {
  name: "bootstrap",
  words: "[tree]",
  summary: "Makes a tree, or updates one and keeps what a person changed in it.",
  positionals: { tree: "Folder of the tree (default: --source, CTX_SOURCE or the usual place)" },
  options: {
    owner: { type: "string", describe: "As root: uid that the agents belong to" },
    check: { type: "boolean", describe: "Report what would be done and write nothing" },
    "dry-run": { type: "boolean", describe: "The same as --check" },
    programs: { type: "string", describe: "Folder of the five programs (default: this one's)" },
  },
  examples: [
    ["bootstrap", "the tree in its usual place"],
    ["bootstrap ./tree --check", "what it would do to this one"],
  ],
};

/** Of the agents when nothing names an owner and there is no user `cortexfs`. */
const fallbackUid = 61184;

const uidMax = 4294967294;

export function run(args: Arguments): number {
  const uid = callerUid();
  const named = args.text("tree") ?? args.text("source");
  const { source } = resolvePlaces({ source: named, env: process.env, uid });
  const owner = ownerOf(args.text("owner"), source, uid);
  const check = args.flag("check") || args.flag("dry-run");
  const groups = uid === 0 ? [] : supplementaryGroups().filter((gid) => gid !== owner.gid);
  const binaries = resolve(args.text("programs") ?? dirname(process.execPath));
  const report = bootstrap({ source, owner, groups, binaries, check });
  if (args.flag("json")) printJson({ ...report, owner, check });
  else printReport(report, check, owner.uid);
  return 0;
}

/** Every entry when nothing is written; else only what a person changed and is kept. */
function printReport(report: BootstrapReport, check: boolean, uid: number): void {
  for (const { path, action } of report.entries) {
    if (action === "keep" || (check && action !== "same")) print(`${action.padEnd(7)} ${path}`);
  }
  const count = (wanted: string) => report.entries.filter(({ action }) => action === wanted).length;
  const done = check ? "would be " : "";
  const counts = `${count("create")} ${done}created, ${count("update")} ${done}updated`;
  const what = report.changed ? `${counts}, ${count("keep")} kept as edited` : "up to date";
  print(`${report.source}: ${what}; agents belong to uid ${uid}`);
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** For root: `--owner`, else whose the tree is already, else SUDO_UID, else `cortexfs`, else 61184. */
function ownerOf(named: string | undefined, source: string, uid: number): Owner {
  if (uid !== 0) {
    if (named !== undefined && named !== String(uid)) {
      fail("EACCES", `uid ${uid} cannot make a tree for uid ${named}`, { hint: "run it as root" });
    }
    return { uid, gid: process.getgid?.() ?? uid };
  }
  if (named !== undefined) return ownerByUid(number("--owner", named));
  const known = treeOwner(source);
  if (known !== undefined) return { uid: known.uid, gid: known.gid };
  const sudo = process.env["SUDO_UID"];
  if (sudo !== undefined && sudo !== "" && sudo !== "0")
    return ownerByUid(number("SUDO_UID", sudo));
  const user = passwd().find((entry) => entry.name === "cortexfs");
  return user ?? { uid: fallbackUid, gid: fallbackUid };
}

function number(what: string, text: string): number {
  if (/^(0|[1-9][0-9]{0,9})$/.test(text) && Number(text) <= uidMax) return Number(text);
  return fail("EINVAL", `${what} is ${JSON.stringify(text)}, which is not a uid`);
}

/** A uid with its login group when the user is known, else with a group of the same number. */
function ownerByUid(uid: number): Owner {
  return passwd().find((entry) => entry.uid === uid) ?? { uid, gid: uid };
}

function passwd(): { name: string; uid: number; gid: number }[] {
  let text: string;
  try {
    text = readFileSync("/etc/passwd", "utf8");
  } catch {
    return [];
  }
  return text.split("\n").flatMap((line) => {
    const [name, , uid, gid] = line.split(":");
    return name && uid && gid ? [{ name, uid: Number(uid), gid: Number(gid) }] : [];
  });
}
