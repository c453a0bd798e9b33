#!/usr/bin/env bun
// ctxmcp: the client of MCP servers. Only picks the command; its code is loaded when it is used.

import { fail, quoted } from "../../internal/abi/mod.ts";
import { runMain } from "../../internal/cli/mod.ts";
import { help } from "./help.ts";

await runMain("ctxmcp", async () => ({ run }), help);

async function run(argv: readonly string[]): Promise<number> {
  const [command, ...rest] = argv;
  switch (command) {
    case "list":
      return (await import("./list.ts")).run(rest);
    case "project":
      return (await import("./project.ts")).run(rest);
    case "call":
      return (await import("./call.ts")).run(rest);
    case "serve-tool":
      return (await import("./serve-tool.ts")).serveTool();
    case undefined:
      return fail("EINVAL", "a command is missing", { hint: "see ctxmcp --help" });
    default:
      return fail("EINVAL", `unknown command ${quoted(command)}`, { hint: "see ctxmcp --help" });
  }
}
