// `ctx object uninstall`: says what it would remove, and with `--yes` removes exactly that.

import { print, printJson } from "../../internal/cli/mod.ts";
import { planUninstall, uninstallObject } from "../../internal/install/mod.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { openContext } from "./context.ts";
import { titleOf } from "./object-words.ts";
import { tellServer } from "./tell-server.ts";

export const spec: CommandSpec = {
  name: "object uninstall",
  words: "<object>",
  summary: "Says what removing an installed object would remove; --yes removes it.",
  more:
    "Only what ctx object install made is removed, and only while its executable is the one\n" +
    "that was installed. Policy lines of agents, homes and sessions stay.\n",
  positionals: { object: "tool/NAME, agent/NAME or home/UID/tool/NAME" },
  options: { yes: { type: "boolean", describe: "Remove it" } },
  examples: [
    ["object uninstall tool/github.search", "prints every path and removes none"],
    ["object uninstall tool/github.search --yes", "removes them"],
  ],
};

export async function run(args: Arguments): Promise<number> {
  const { tree, places } = openContext(args);
  const plan = planUninstall(tree, args.need("object"));
  const { object, receipt, removes, added } = plan;
  const removed = args.flag("yes");
  if (removed) {
    uninstallObject(tree, object);
    if (plan.class === "agent") await tellServer(places, plan.name);
  }
  if (args.flag("json")) {
    printJson({ object, removed, removes, added, receipt });
    return 0;
  }
  print(`${removed ? "removed" : "would remove"} ${titleOf(object, receipt)}`);
  for (const path of removes) print(`  ${path}${added.includes(path) ? "  (added since)" : ""}`);
  if (!removed) print("nothing was removed; --yes does it");
  return 0;
}
