// `ctx object residue audit|cleanup`: what cut installations left, and removing one entry of it.

import { fail } from "../../internal/abi/mod.ts";
import { print, printJson } from "../../internal/cli/mod.ts";
import { auditResidue, cleanupResidue } from "../../internal/install/mod.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { openContext } from "./context.ts";

export const spec: CommandSpec = {
  name: "object residue",
  words: "<deed> [path] [device] [inode]",
  summary: "audit lists what cut installations left; cleanup removes one entry of that list.",
  more:
    "An entry is removed only when path, device and inode are those that audit printed, so that\n" +
    "nothing which took its place meanwhile is. None of it is an object.\n",
  positionals: {
    deed: "audit or cleanup",
    path: "For cleanup: path in the tree",
    device: "Its device number",
    inode: "Its inode number",
  },
  options: {},
  examples: [
    ["object residue audit", "a line for each entry, as cleanup takes it"],
    ["object residue cleanup tool/.x.0123456789ab.install 2049 131", "removes that very folder"],
  ],
};

export function run(args: Arguments): number {
  const deed = args.need("deed");
  const words = ["path", "device", "inode"].map((name) => args.text(name));
  const { tree } = openContext(args);
  if (deed === "audit") {
    if (words[0] !== undefined) fail("EINVAL", `audit takes no ${JSON.stringify(words[0])}`);
    const found = auditResidue(tree);
    if (args.flag("json")) for (const one of found) printJson(one);
    else {
      for (const { path, dev, ino, what, changed_at } of found) {
        print(`${path} ${dev} ${ino}  ${what} (${ageOf(changed_at)})`);
      }
    }
    if (!args.flag("json") && found.length === 0) print("no residue");
    return 0;
  }
  if (deed !== "cleanup") {
    fail("EINVAL", `${JSON.stringify(deed)} is not "audit" or "cleanup"`, {
      hint: "see ctx object residue --help",
    });
  }
  const [path, dev, ino] = words;
  if (path === undefined || dev === undefined || ino === undefined) {
    return fail("EINVAL", "cleanup needs path, device and inode", {
      hint: "as ctx object residue audit prints them",
    });
  }
  const removed = cleanupResidue(tree, path, dev, ino);
  if (args.flag("json")) printJson({ removed: true, ...removed });
  else print(`removed ${removed.path}`);
  return 0;
}

const units = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
] as const;

/** "3 days ago", by the largest unit of which there is one. */
function ageOf(time: string): string {
  const seconds = Math.max(0, Math.floor((Date.now() - Date.parse(time)) / 1000));
  const [unit, size] = units.find(([, length]) => seconds >= length) ?? ["second", 1];
  const count = Math.floor(seconds / size);
  return `${count} ${unit}${count === 1 ? "" : "s"} ago`;
}
