#!/usr/bin/env bun
// The person's client and the runner of built-in objects. A tool call in a sandbox is a process of
// its own that comes through here, so `exec` is told apart before anything else is loaded.

import { runMain } from "../../internal/cli/mod.ts";
import { help } from "./help.ts";

await runMain(
  "ctx",
  () => (process.argv[2] === "exec" ? import("./exec.ts") : import("./dispatch.ts")),
  help,
);
