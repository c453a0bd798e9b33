// The servers of the protocol's own project: what ctxmcp says of them is what the official inspector's
// command line says.

import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseManifest } from "../../internal/manifest/mod.ts";
import { Place } from "../../testdata/cli/program.ts";

setDefaultTimeout(240_000);
const place = new Place();
afterAll(() => place.remove());

const packages = resolve(import.meta.dir, "../../node_modules/@modelcontextprotocol");
const node = Bun.which("node");
if (node === null) console.log("SKIP cmd/ctxmcp against the inspector: there is no node");
const here = test.skipIf(node === null);

const env = { MEMORY_FILE_PATH: join(place.work, "memory.json") };
writeFileSync(join(place.work, "a.txt"), "hello\nworld\n");

const program = (name: string, path = "dist/index.js") => join(packages, name, path);

const servers: Readonly<Record<string, readonly string[]>> = {
  everything: [program("server-everything")],
  filesystem: [program("server-filesystem"), place.work],
  memory: [program("server-memory")],
};

const config = join(place.work, "mcp.json");
const entries = Object.entries(servers).map(([name, args]) => [name, { command: node, args, env }]);
writeFileSync(config, JSON.stringify({ mcpServers: Object.fromEntries(entries) }));

async function inspector(server: string, ...more: string[]): Promise<Record<string, unknown>> {
  const launcher = program("inspector", "clients/launcher/build/index.js");
  const argv = [node as string, launcher, "--cli", node as string, ...(servers[server] ?? [])];
  const child = Bun.spawn([...argv, ...more], {
    cwd: place.work,
    env: { ...place.env, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  return JSON.parse(await new Response(child.stdout).text());
}

async function ours(command: string, server: string, ...more: string[]): Promise<string> {
  const named = ["--config", config, "--server", server];
  const { out, err } = await place.run(["ctxmcp", command, ...named, ...more]);
  if (out === "") throw new Error(err);
  return out;
}

interface Tool {
  readonly name: string;
  readonly [field: string]: unknown;
}

function said(tool: Tool): Tool {
  const { name } = tool;
  const fields = ["title", "description", "inputSchema", "outputSchema"];
  return { name, ...Object.fromEntries(fields.map((field) => [field, tool[field]])) };
}

const byName = (a: Tool, b: Tool) => (a.name < b.name ? -1 : 1);

for (const [server, count] of [
  ["everything", 14],
  ["filesystem", 14],
  ["memory", 9],
] as const) {
  here(`${server}: the same tools, and the same in the manifests`, async () => {
    const out = join(place.work, `out-${server}`);
    const where = ["--runtime-config", "/workspace/mcp.json", "--out", out, "--json"];
    const theirs = await inspector(server, "--method", "tools/list");
    const tools = (JSON.parse(await ours("list", server, "--json")).tools as Tool[])
      .map(said)
      .sort(byName);
    // Servers offer some tools only to clients with abilities that the inspector alone has.
    const names = new Set(tools.map((tool) => tool.name));
    const known = (theirs["tools"] as Tool[]).filter((tool) => names.has(tool.name));
    expect(tools).toEqual(known.map(said).sort(byName));
    expect(tools.length).toBeGreaterThanOrEqual(count);
    expect(JSON.parse(await ours("project", server, ...where))).toEqual({
      written: tools.map((tool) => `${server}.${tool.name}`),
      unchanged: [],
      kept: [],
      skipped: [],
    });
    for (const tool of known) {
      const file = join(out, `${server}.${tool.name}.manifest.json`);
      const { controls } = parseManifest(readFileSync(file, "utf8"), file);
      expect(JSON.parse(controls.get("schema") ?? "")).toEqual(tool["inputSchema"]);
      expect(controls.get("description")).toBe(`${tool["description"]}\n`);
    }
  });
}

const calls: readonly (readonly [string, string, Readonly<Record<string, unknown>>])[] = [
  ["everything", "echo", { message: "hi é 😀" }],
  ["everything", "get-sum", { a: 2, b: 3.5 }],
  ["everything", "get-structured-content", { location: "Chicago" }],
  ["everything", "get-tiny-image", {}],
  ["everything", "get-resource-links", { count: 3 }],
  ["everything", "get-annotated-message", { messageType: "error", includeImage: true }],
  ["filesystem", "read_text_file", { path: join(place.work, "a.txt") }],
  ["filesystem", "read_text_file", { path: "/etc/shadow" }],
  ["filesystem", "list_allowed_directories", {}],
  ["memory", "read_graph", {}],
];

for (const [server, tool, args] of calls) {
  here(`${server}: ${tool} ${JSON.stringify(args)} has the same result`, async () => {
    const given = Object.entries(args).flatMap(([name, value]) => {
      return ["--tool-arg", `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`];
    });
    const [theirs, mine] = await Promise.all([
      inspector(server, "--method", "tools/call", "--tool-name", tool, ...given),
      ours("call", server, tool, JSON.stringify(args), "--json"),
    ]);
    expect(JSON.parse(mine)).toEqual({ isError: false, ...theirs });
  });
}
