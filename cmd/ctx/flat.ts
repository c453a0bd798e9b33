// The paths on which the start counts: the object runner, which every file tool goes through, and the
// commands that must be as quick as an empty program. The build makes one piece of code of this file
// and all that it imports, because loading many small pieces would cost more than their work.

import { runMain } from "../../internal/cli/mod.ts";
import { type Beyond, run as runObject } from "./exec.ts";
import { help } from "./help.ts";
import { runQuick } from "./quick.ts";

type Rest = () => Promise<typeof import("./start.ts")>;

export async function start(rest: Rest): Promise<never> {
  const [, , first, second] = process.argv;
  // An agent object is chat or send by another name, and needs the commands themselves.
  if (first === "exec" && !/(?:^|\/)agent\/[^/]*$/.test(second ?? "")) {
    const commands = async (words: readonly string[]) =>
      (await (await rest()).commands()).run(words);
    const model: Beyond["model"] = async (...call) =>
      (await (await rest()).models()).runModel(...call);
    const beyond: Beyond = { commands, model };
    return runMain("ctx", async () => ({ run: (argv) => runObject(argv, beyond) }), "");
  }
  if (/^(?:status|ls|cat|validate-name|--version|-V|--help|-h)$/.test(first ?? "")) {
    return runMain("ctx", async () => ({ run: runQuick }), help);
  }
  return (await rest()).start();
}
