// `ctx append`: adds one line to a control that is a list, when the control is valid with it.

import { fail } from "../../internal/abi/mod.ts";
import { everyCommandFlags, note, parseFlags, printJson } from "../../internal/cli/mod.ts";
import { appendControl, openTree, resolvePlaces } from "../../internal/tree/mod.ts";
import { callerUid } from "./context.ts";
import { belowSource } from "./set.ts";

export const help = `Usage: ctx append PATH LINE [--json]

Adds one line to a control file that is a list, durably and only when the file is valid with it.
A line that is there already is not added again.

Options:
  --json         Print {"path":…,"appended":…}
  --source DIR   Source tree (default: CTX_SOURCE)

Examples:
  ctx append tool/fs.read.d/policy 'allow helper_t tool:fs.read execute'
  ctx append agent/coder.d/tools fs.stat
`;

export function runFast(argv: readonly string[]): number {
  const flags = parseFlags(argv, everyCommandFlags);
  const [path, line, extra] = flags.words;
  if (path === undefined || line === undefined || extra !== undefined) {
    return fail("EINVAL", "append needs a path and one line", {
      hint: "put a line with spaces in quotes; see ctx append --help",
    });
  }
  const { source } = resolvePlaces({
    source: flags.value.get("source"),
    env: process.env,
    uid: callerUid(),
  });
  const tree = openTree(source);
  try {
    const relative = belowSource(tree.source, path);
    const appended = appendControl(tree, relative, line);
    if (flags.on.has("json")) printJson({ path: relative, appended });
    else if (!appended) note(`${relative} has that line already`);
  } finally {
    tree.close();
  }
  return 0;
}
