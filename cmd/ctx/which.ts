// `ctx which`: the file that a class and a name stand for. Tools are searched as an agent's are: by
// CTX_PATH, left to right, executable regular files only.

import { lstatSync } from "node:fs";
import { fail, objectName, parseModelRef } from "../../internal/abi/mod.ts";
import { print, printJson, viewPath } from "../../internal/cli/mod.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { rootOf } from "./root.ts";

export const spec: CommandSpec = {
  name: "which",
  words: "<class> <name>",
  summary: "Prints the path of an agent, a tool or a model.",
  positionals: { class: "agent, tool or model", name: "Name of the object" },
  options: {},
  examples: [
    ["which tool fs.read", "the tool that CTX_PATH finds"],
    ["which model debug/echo", "a model by provider and name"],
  ],
};

export function run(args: Arguments): number {
  const kind = args.need("class");
  const name = args.need("name");
  const root = rootOf(args.text("root"), args.text("source"));
  const path = candidates(kind, name)
    .map((candidate) => viewPath(root, candidate))
    .find(isExecutable);
  if (path === undefined) {
    return fail("ENOENT", `${kind} "${name}" does not exist`, { hint: `see ctx ls ${kind}` });
  }
  if (args.flag("json")) printJson({ class: kind, name, path });
  else print(path);
  return 0;
}

/** Paths of the view where the object may be, in the order in which they count. */
export function candidates(kind: string, name: string): string[] {
  if (kind === "model") {
    if (parseModelRef(name) === undefined) objectName("model", name);
    return [`model/${name}`];
  }
  if (kind === "agent") return [`agent/${objectName("agent", name)}`];
  if (kind === "tool") {
    const folders = (process.env["CTX_PATH"] || "/ctx/tool").split(":");
    return folders.filter(isInView).map((folder) => `${folder}/${objectName("tool", name)}`);
  }
  return fail("EINVAL", `unknown class ${JSON.stringify(kind)}`, {
    hint: "the classes are agent, tool and model",
  });
}

function isInView(folder: string): boolean {
  return folder === "/ctx" || folder.startsWith("/ctx/");
}

/** A model may be an alias, which is a symlink; nothing else may. */
export function isExecutable(path: string): boolean {
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (facts?.isSymbolicLink()) return /\/model\/[^/]+$/.test(path);
  return facts?.isFile() === true && (facts.mode & 0o111) !== 0;
}
