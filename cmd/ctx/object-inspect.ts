// `ctx object inspect`: what was installed under a name, and whether it still is what is there.

import { print, printJson } from "../../internal/cli/mod.ts";
import { inspectObject } from "../../internal/install/mod.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { openContext } from "./context.ts";
import { printReceipt, titleOf } from "./object-words.ts";

export const spec: CommandSpec = {
  name: "object inspect",
  words: "<object>",
  summary: "Shows the receipt of an installed object and whether its executable is still that one.",
  positionals: { object: "tool/NAME, agent/NAME or home/UID/tool/NAME" },
  options: {},
  examples: [["object inspect tool/github.search", "exits with 1 when the executable was changed"]],
};

/** 0 while the executable is the one that was installed, 1 otherwise. */
export function run(args: Arguments): number {
  const { tree } = openContext(args);
  const { object, receipt, fault } = inspectObject(tree, args.need("object"));
  if (args.flag("json")) {
    printJson({ object, intact: fault === undefined, fault: fault ?? null, receipt });
  } else {
    print(titleOf(object, receipt));
    printReceipt(receipt);
    print(fault === undefined ? "  as it was installed" : `  not as it was installed: ${fault}`);
  }
  return fault === undefined ? 0 : 1;
}
