#!/usr/bin/env bun
// Client of MCP servers. This version says what it is and serves no MCP server yet.

import { fail } from "../../internal/abi/mod.ts";
import { runMain } from "../../internal/cli/mod.ts";

const help = `Usage: ctxmcp --version | --help

Turns the tools of MCP servers into tool objects of the tree. This version reads no MCP
configuration; the tools of a tree are the built-in ones.

Example:
  ctxmcp --version
`;

const run = () =>
  fail("EHOSTDOWN", "this version serves no MCP servers", { hint: "see the tools with tsh tools" });

await runMain("ctxmcp", async () => ({ run }), help);
