// ctxd: hosts the agents of one tree. Only picks the command; its code is loaded when it is used.

import { fail, quoted } from "../../internal/abi/mod.ts";
import { runMain } from "../../internal/cli/mod.ts";
import { help } from "./help.ts";

await runMain("ctxd", async () => ({ run }), help);

async function run(argv: readonly string[]): Promise<number> {
  const [command, ...rest] = argv;
  switch (command) {
    case "serve":
      return (await import("./serve.ts")).run(rest);
    case "launch":
      return (await import("./launch.ts")).run(rest);
    case "mount":
      return fail("EINVAL", "cannot mount a view: this version serves plain trees alone", {
        hint: "use the source tree's own path in place of /ctx",
      });
    case undefined:
      return fail("EINVAL", "a command is missing", { hint: "see ctxd --help" });
    default:
      return fail("EINVAL", `unknown command ${quoted(command)}`, { hint: "see ctxd --help" });
  }
}
