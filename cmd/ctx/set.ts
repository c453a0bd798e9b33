// `ctx set`: replaces a control file when the value is valid by that control's grammar; otherwise
// the old value stays in force.

import { controlBytesMax, fail } from "../../internal/abi/mod.ts";
import { everyCommandFlags, parseFlags, printJson } from "../../internal/cli/mod.ts";
import { openTree, resolvePlaces, writeControl } from "../../internal/tree/mod.ts";
import { callerUid } from "./context.ts";
import { readInput } from "./exec-input.ts";

export const help = `Usage: ctx set PATH VALUE... [--json]
       ctx set PATH -

Replaces a control file of the tree, atomically and only when the new value is valid. Several
values become one line each; - reads the whole text from standard input.

Options:
  --json         Print {"path":…,"bytes":…}
  --source DIR   Source tree (default: CTX_SOURCE)

Examples:
  ctx set agent/coder.d/perm r-x
  ctx set agent/coder.d/tools fs.read fs.list
  ctx set agent/coder.d/policy - < policy
  ctx set agent/coder.d/tools - < /dev/null      an empty list
`;

export function runFast(argv: readonly string[]): number {
  const flags = parseFlags(argv, everyCommandFlags);
  const [path, ...values] = flags.words;
  if (path === undefined || values.length === 0) {
    return fail("EINVAL", "set needs a path and a value", { hint: "see ctx set --help" });
  }
  const text =
    values.length === 1 && values[0] === "-" ? readInput(controlBytesMax) : lines(values);
  const { source } = resolvePlaces({
    source: flags.value.get("source"),
    env: process.env,
    uid: callerUid(),
  });
  const tree = openTree(source);
  try {
    const relative = belowSource(tree.source, path);
    writeControl(tree, relative, text);
    if (flags.on.has("json")) printJson({ path: relative, bytes: Buffer.byteLength(text) });
  } finally {
    tree.close();
  }
  return 0;
}

function lines(values: readonly string[]): string {
  return values.map((value) => (value.endsWith("\n") ? value : `${value}\n`)).join("");
}

/** `agent/x.d/perm`, `/ctx/agent/x.d/perm` and the full path in the tree name the same control. */
export function belowSource(source: string, path: string): string {
  if (path.startsWith(`${source}/`)) return path.slice(source.length + 1);
  if (path.startsWith("/ctx/")) return path.slice("/ctx/".length);
  if (!path.startsWith("/")) return path;
  return fail("EACCES", `${JSON.stringify(path)} is not in the tree ${JSON.stringify(source)}`);
}
