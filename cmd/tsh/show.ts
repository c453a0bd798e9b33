// tools, which and help: what is there, shown and not run. Whatever a tool's controls hold is text of
// somebody else, so it is printed escaped.

import { lstatSync, readFileSync } from "node:fs";
import { objectName } from "../../internal/abi/mod.ts";
import { print, printJson } from "../../internal/cli/mod.ts";
import { allTools, type Found, findTool, type ToolPath } from "./tool-path.ts";

/** What is shown of a tool's description or schema. Past it the rest is left out. */
const shownBytesMax = 256 * 1024;

export function listTools(path: ToolPath, json: boolean): void {
  for (const tool of allTools(path)) {
    if (json) printJson({ name: tool.name, path: tool.path, view_path: tool.viewPath });
    else print(`${tool.name.padEnd(20)} ${tool.viewPath.slice(0, -tool.name.length - 1)}`);
  }
}

export function showPath(path: ToolPath, name: string, json: boolean): void {
  const tool = findTool(path, objectName("tool", name));
  if (json) printJson({ name, path: tool.path, view_path: tool.viewPath });
  else print(tool.path);
}

export function showTool(path: ToolPath, name: string, json: boolean): void {
  const tool = findTool(path, objectName("tool", name));
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
