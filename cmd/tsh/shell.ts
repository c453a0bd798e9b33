// The commands of tsh in this version: it shows tools and refuses to run them, because a tool runs
// only by a host's decision, in an agent's sandbox.

import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { fail, isObjectName, objectName } from "../../internal/abi/mod.ts";
import {
  everyCommandFlags,
  parseFlags,
  print,
  printJson,
  viewPath,
  viewRoot,
} from "../../internal/cli/mod.ts";
import { resolvePlaces } from "../../internal/tree/mod.ts";
import { searchPath } from "./search-path.ts";

/** What is shown of a tool's description or schema. Past it the rest is left out. */
const shownBytesMax = 256 * 1024;

interface Found {
  readonly name: string;
  /** As an agent names it, e.g. "/ctx/tool/fs.read". */
  readonly viewPath: string;
  readonly path: string;
}

export function run(argv: readonly string[]): number {
  const [command] = argv;
  if (command !== "tools" && command !== "which" && command !== "help") return refuse(command);
  const flags = parseFlags(argv.slice(1), everyCommandFlags);
  const [name, ...rest] = flags.words;
  if (rest.length > 0 || (command === "tools") !== (name === undefined)) {
    fail("EINVAL", `tsh ${command} takes ${command === "tools" ? "no words" : "one name"}`, {
      hint: "see tsh --help",
    });
  }
  const source = flags.value.get("source");
  const uid = process.getuid?.() ?? 0;
  const findSource = () => resolvePlaces({ source, env: process.env, uid }).source;
  const root = viewRoot({ root: flags.value.get("root"), source, findSource });
  const folders = searchPath({ env: process.env, uid, root });
  const json = flags.on.has("json");
  if (name === undefined) return listTools(root, folders, json);
  const tool = findTool(root, folders, objectName("tool", name));
  if (command === "which") {
    if (json) printJson({ name, path: tool.path, view_path: tool.viewPath });
    else print(tool.path);
  } else showTool(tool, json);
  return 0;
}

function refuse(command: string | undefined): never {
  if (command === undefined) {
    return fail("EHOSTDOWN", "this version has no interactive shell", { hint: "see tsh --help" });
  }
  if (command.startsWith("-")) {
    return fail("EINVAL", `unknown option ${JSON.stringify(command)}`, { hint: "see tsh --help" });
  }
  const name = objectName("tool", command);
  return fail("EACCES", `cannot run tool "${name}": this is not an agent's terminal`, {
    hint: `ask an agent with ctx agent send, or look at the tool with tsh help ${name}`,
  });
}

/** Folders of CTX_PATH that are in the view; others are not looked at. */
function folderPath(root: string, folder: string): string | undefined {
  return folder === "/ctx" || folder.startsWith("/ctx/") ? viewPath(root, folder) : undefined;
}

function listTools(root: string, folders: readonly string[], json: boolean): number {
  const seen = new Set<string>();
  for (const folder of folders) {
    for (const name of namesIn(folderPath(root, folder))) {
      const tool = seen.has(name) ? undefined : lookUp(root, folder, name);
      if (tool === undefined) continue;
      seen.add(name);
      if (json) printJson({ name, path: tool.path, view_path: tool.viewPath });
      else print(`${name.padEnd(20)} ${folder}`);
    }
  }
  return 0;
}

function namesIn(path: string | undefined): string[] {
  if (path === undefined) return [];
  try {
    return readdirSync(path).filter(isObjectName).sort();
  } catch {
    // A folder that is missing or closed to the caller holds no tool for them.
    return [];
  }
}

function findTool(root: string, folders: readonly string[], name: string): Found {
  for (const folder of folders) {
    const tool = lookUp(root, folder, name);
    if (tool !== undefined) return tool;
  }
  return fail("ENOENT", `tool "${name}" is not on CTX_PATH`, {
    hint: `looked in ${folders.join(", ")}; see tsh tools`,
  });
}

/** Only an executable regular file counts. */
function lookUp(root: string, folder: string, name: string): Found | undefined {
  const base = folderPath(root, folder);
  if (base === undefined) return undefined;
  const path = `${base}/${name}`;
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (!facts?.isFile() || (facts.mode & 0o111) === 0) return undefined;
  return { name, path, viewPath: `${folder.replace(/\/$/, "")}/${name}` };
}

function showTool(tool: Found, json: boolean): void {
  const description = control(tool, "description");
  const schema = control(tool, "schema");
  if (json) printJson({ name: tool.name, view_path: tool.viewPath, description, schema });
  else {
    print(`${tool.name} (${tool.viewPath})\n\n${description || "It has no description."}\n`);
    print(schema === "" ? "It declares no input." : `Input:\n${schema}`);
  }
}

function control({ path }: Found, name: string): string {
  try {
    const file = `${path}.d/${name}`;
    if (!lstatSync(file).isFile()) return "";
    return readFileSync(file, "utf8").slice(0, shownBytesMax).trim();
  } catch {
    return "";
  }
}
