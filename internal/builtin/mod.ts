// The file tools that run inside a sandbox: fs.read, fs.list, fs.stat, fs.write, fs.replace. Each
// call is a process of its own, so this imports nothing but node:fs and the vocabulary.

import { list, stat } from "./list.ts";
import { read } from "./read.ts";
import { replace } from "./replace.ts";
import { type Audience, type BuiltinResult, type BuiltinTool, failed, Input } from "./result.ts";
import { write } from "./write.ts";

export { wholeDiff } from "./diff.ts";
export { type Preview, previewChange } from "./preview.ts";
export type { Audience, BuiltinResult } from "./result.ts";

interface Definition {
  readonly run: BuiltinTool;
  /** Input fields in the order in which a terminal user gives them. */
  readonly fields: readonly string[];
}

const tools = {
  "fs.read": { run: read, fields: ["path", "line_start", "line_end", "offset", "limit"] },
  "fs.list": { run: list, fields: ["path", "depth", "limit"] },
  "fs.stat": { run: stat, fields: ["path"] },
  "fs.write": { run: write, fields: ["path", "content", "create_dirs"] },
  "fs.replace": { run: replace, fields: ["path", "old", "new", "count"] },
} as const satisfies Record<string, Definition>;

export type BuiltinName = keyof typeof tools;

export function isBuiltinName(name: string): name is BuiltinName {
  return Object.hasOwn(tools, name);
}

export function builtinFields(name: BuiltinName): readonly string[] {
  return tools[name].fields;
}

/**
 * Runs one tool. A refused input or a failed file operation is an error result with a code; only a
 * bug of ours throws.
 */
export async function runBuiltin(
  name: BuiltinName,
  args: unknown,
  cwd: string,
  audience: Audience = "native",
): Promise<BuiltinResult> {
  const tool: Definition = tools[name];
  try {
    return tool.run(new Input(name, args, tool.fields), cwd, audience);
  } catch (error) {
    if (typeof (error as { code?: unknown }).code !== "string") throw error;
    return failed(error);
  }
}
