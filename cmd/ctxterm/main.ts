#!/usr/bin/env bun
// Owner of an agent's terminal. This version says what it is and serves no terminal yet.

import { fail } from "../../internal/abi/mod.ts";
import { runMain } from "../../internal/cli/mod.ts";

const help = `Usage: ctxterm --version | --help

Owns the pseudo-terminal of an agent's session: one terminal, many watchers. This version serves
no terminal; agents run their tools in a sandbox of their own for each call.

Example:
  ctxterm --version
`;

const run = () =>
  fail("EHOSTDOWN", "this version serves no terminals", {
    hint: "talk to an agent with ctx agent chat",
  });

await runMain("ctxterm", async () => ({ run }), help);
