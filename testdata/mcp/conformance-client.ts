// The client that the conformance scenarios run: `conformance-client.ts CTXMCP URL`. It lists and calls
// with `ctxmcp`, which reaches the scenario's server over the bridge, and ends with the first status
// that is not 0. The name of the scenario comes in the environment.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [ctxmcp = "", url = ""] = process.argv.slice(2);

/** What is done with the server of each scenario that is run. */
const commands: Readonly<Record<string, readonly (readonly string[])[]>> = {
  initialize: [["list"]],
  tools_call: [["list"], ["call", "add_numbers", '{"a":5,"b":3}']],
};

const folder = mkdtempSync(join(tmpdir(), "conformance-"));
let status = 0;
try {
  const config = join(folder, "mcp.json");
  const args = [join(import.meta.dir, "http-bridge.ts"), url];
  const server = { command: process.execPath, args };
  writeFileSync(config, JSON.stringify({ mcpServers: { scenario: server } }));
  const asked = commands[process.env["MCP_CONFORMANCE_SCENARIO"] ?? ""] ?? [];
  if (asked.length === 0) throw new Error("this scenario is not one that is run");
  for (const [name = "", ...rest] of asked) {
    const argv = [ctxmcp, name, "--config", config, "--server", "scenario", ...rest];
    status ||= await Bun.spawn(argv, { stdio: ["ignore", "inherit", "inherit"] }).exited;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(status);
