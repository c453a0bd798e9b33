// `ctxmcp list`: what a server says about its tools.

import { parseFlags, print, printJson, printRaw } from "../../internal/cli/mod.ts";
import type { ToolDefinition } from "../../internal/mcp-tool/mod.ts";
import { listHelp } from "./help.ts";
import { noWords, serverOptions, sharedFlags } from "./options.ts";
import { withServer } from "./with-server.ts";

/** Characters of a description that a line of the list shows. */
const summaryCharactersMax = 60;

export async function run(argv: readonly string[]): Promise<number> {
  const flags = parseFlags(argv, sharedFlags);
  if (flags.on.has("help")) {
    printRaw(listHelp);
    return 0;
  }
  noWords("list", flags.words);
  return withServer(serverOptions(flags), async ({ name, server, signal }) => {
    const tools = await server.listTools(signal);
    if (flags.on.has("json")) {
      const { version, protocolVersion, skippedLines } = server;
      printJson({
        server: { name: server.name, version, protocol: protocolVersion },
        skipped_lines: skippedLines,
        tools,
      });
      return 0;
    }
    const width = Math.max(0, ...tools.map((tool) => Math.min(40, tool.name.length)));
    if (tools.length > 0) print(tools.map((tool) => lineOf(tool, width)).join("\n"));
    const about = `${server.name} ${server.version}, MCP ${server.protocolVersion}`.trim();
    const count = `${tools.length} tool${tools.length === 1 ? "" : "s"}`;
    print(`${count} of server "${name}" (${about})`);
    return 0;
  });
}

function lineOf({ name, title, description }: ToolDefinition, width: number): string {
  const said = (description ?? title ?? "").trimStart().split("\n", 1)[0] as string;
  const cut = said.length > summaryCharactersMax ? `${said.slice(0, summaryCharactersMax)}…` : said;
  return `${name.replaceAll("\n", "\\n").padEnd(width)}  ${cut}`.trimEnd();
}
