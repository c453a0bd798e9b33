// `ctx ls`: names in a folder of the tree.

import { lstatSync, readdirSync, readlinkSync, type Stats, statSync } from "node:fs";
import { fail } from "../../internal/abi/mod.ts";
import {
  everyCommandFlags,
  parseFlags,
  print,
  printJson,
  unreadable,
  viewPath,
} from "../../internal/cli/mod.ts";
import { rootOf } from "./root.ts";

export const help = `Usage: ctx ls [PATH] [--long] [--json]

Lists a folder of the tree, one name a line; a folder's name ends in /, a symlink's in @.

Options:
  --long         Mode, size and time of change too
  --json         One JSON object a line: name, type, size, mode, mtime
  --source DIR   Source tree (default: CTX_SOURCE)
  --root DIR     View of the tree (default: CTX_ROOT)

Examples:
  ctx ls
  ctx ls agent/coder.d --long
`;

export function runFast(argv: readonly string[]): number {
  const flags = parseFlags(argv, { ...everyCommandFlags, long: "switch" });
  if (flags.words.length > 1) fail("EINVAL", "ls takes one path", { hint: "see ctx ls --help" });
  const named = flags.words[0] ?? "";
  const root = rootOf(flags.value.get("root"), flags.value.get("source"));
  const folder = viewPath(root, named);
  for (const name of names(folder, named || root, root)) {
    const path = `${folder}/${name}`;
    const facts = lstatSync(path, { throwIfNoEntry: false });
    if (facts === undefined) continue;
    if (flags.on.has("json")) printJson(entry(name, path, facts));
    else print((flags.on.has("long") ? longFacts(facts) : "") + name + mark(facts));
  }
  return 0;
}

function names(folder: string, shown: string, root: string): string[] {
  try {
    const facts = statSync(folder);
    if (!facts.isDirectory()) {
      return fail("EINVAL", `cannot list ${JSON.stringify(shown)}: it is not a folder`, {
        hint: "print a file with ctx cat",
      });
    }
    return readdirSync(folder).sort();
  } catch (error) {
    return unreadable("list", shown, error, root);
  }
}

function kind(facts: Stats): string {
  if (facts.isFile()) return "file";
  if (facts.isDirectory()) return "folder";
  if (facts.isSymbolicLink()) return "symlink";
  return facts.isSocket() ? "socket" : "other";
}

function mark(facts: Stats): string {
  const marks: Record<string, string> = { folder: "/", symlink: "@", socket: "=" };
  return marks[kind(facts)] ?? "";
}

function entry(name: string, path: string, facts: Stats): Record<string, unknown> {
  return {
    name,
    type: kind(facts),
    size: facts.size,
    mode: octal(facts),
    mtime: facts.mtime.toISOString(),
    ...(facts.isSymbolicLink() ? { target: readlinkSync(path) } : {}),
  };
}

function octal(facts: Stats): string {
  return (facts.mode & 0o7777).toString(8).padStart(4, "0");
}

function longFacts(facts: Stats): string {
  const time = facts.mtime.toISOString().slice(0, 19);
  return `${octal(facts)} ${String(facts.size).padStart(10)} ${time}Z `;
}
