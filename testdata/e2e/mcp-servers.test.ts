// The official example servers as tools of an agent, by the compiled programs: listed, projected, checked,
// installed, allowed and called. What a call comes to is what the official inspector's command line
// gets from the same server with the same arguments.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { leftoversAfterGrace } from "./leftovers.ts";
import { McpWorld, mcpSettings } from "./mcp-world.ts";
import { Run } from "./terminal-calls-world.ts";
import { isRoot } from "./world.ts";

setDefaultTimeout(120_000);

const packages = resolve(import.meta.dir, "../../node_modules");
const inspectorProgram = join(
  packages,
  "@modelcontextprotocol/inspector/clients/launcher/build/index.js",
);
/** What a sandbox sees: the system's own. */
const node = "/usr/bin/node";
const missing = [node, inspectorProgram].find((path) => !existsSync(path));
if (missing !== undefined) console.log(`SKIP example servers: there is no ${missing}`);

interface Example {
  readonly server: string;
  readonly args: (workspace: string) => string[];
  readonly env: (workspace: string) => Record<string, string>;
  /** Tools and their input; a path of the workspace begins with "W". */
  readonly calls: readonly (readonly [string, Record<string, string | number>])[];
}

const none = () => ({});

const examples: readonly Example[] = [
  {
    server: "everything",
    args: () => [],
    env: none,
    calls: [
      ["echo", { message: "hello" }],
      ["get-sum", { a: 2, b: 3 }],
      ["get-structured-content", { location: "New York" }],
    ],
  },
  {
    server: "filesystem",
    args: (workspace) => [workspace],
    env: none,
    calls: [
      ["read_text_file", { path: "W/read.txt" }],
      ["list_directory", { path: "W/folder" }],
      ["read_text_file", { path: "/etc/passwd" }],
    ],
  },
  {
    server: "memory",
    args: () => [],
    env: (workspace) => ({ MEMORY_FILE_PATH: `${workspace}/memory.json` }),
    calls: [
      ["read_graph", {}],
      ["search_nodes", { query: "nobody" }],
    ],
  },
];

const world = new McpWorld();
const program = (root: string, server: string) =>
  join(root, `@modelcontextprotocol/server-${server}/dist/index.js`);

describe.skipIf(missing !== undefined)("an example server", () => {
  beforeAll(async () => {
    await world.bootstrap();
    await world.must("ctx", "set", "agent/coder.d/model", "debug/script");
    await world.must("ctx", "set", "agent/coder.d/mount", `${packages}\t/opt/node_modules\tro\t-`);
    world.write("read.txt", "what is in the file\n");
    mkdirSync(join(world.workspace, "folder/inner"), { recursive: true });
    writeFileSync(join(world.workspace, "folder/a"), "");
    const seen = examples.map(({ server, args, env }) => {
      const own = [program("/opt/node_modules", server), ...args("/workspace")];
      return [server, { command: node, args: own, env: env("/workspace") }];
    });
    world.describe(Object.fromEntries(seen));
    const here = examples.map(({ server, args, env }) => {
      const own = [program(packages, server), ...args(world.workspace)];
      return [server, { command: node, args: own, env: env(world.workspace) }];
    });
    writeFileSync(world.config, JSON.stringify({ mcpServers: Object.fromEntries(here) }));
    await world.serve(mcpSettings);
  });

  afterAll(async () => {
    const left = await leftoversAfterGrace(world);
    await world.destroy();
    if (isRoot) expect(left).toEqual([]);
  });

  for (const example of examples) {
    test(`${example.server}: its tools become the agent's, and answer as the inspector sees them`, async () => {
      const { server, calls } = example;
      const named = ["--config", world.config, "--server", server];
      const listed = await world.must("ctxmcp", "list", ...named, "--json");
      const theirs = await inspector(example, ["--method", "tools/list"]);
      expect(namesOf(JSON.parse(listed))).toEqual(namesOf(theirs));
      const into = ["--runtime-config", "/workspace/.mcp.json", "--out", world.manifests];
      await world.must("ctxmcp", "project", ...named, ...into);
      for (const tool of new Set(calls.map(([tool]) => tool))) await adopt(server, tool);
      const lines = calls.map(([tool, input]) => {
        const given = JSON.stringify(placed(input, "/workspace"));
        return `@call tsh ${JSON.stringify({ args: [`${server}.${tool}`, given] })}`;
      });
      const results = await new Run(world, server, lines).results();
      for (const [index, [tool, input]] of calls.entries()) {
        const wanted = await inspected(example, tool, placed(input, world.workspace));
        const { status, content } = results[index] ?? {};
        expect([tool, status, content]).toEqual([tool, ...wanted]);
      }
    });
  }
});

async function adopt(server: string, tool: string): Promise<void> {
  const name = `${server}.${tool}`;
  const manifest = join(world.manifests, `${name}.manifest.json`);
  expect(await world.must("ctx", "object", "check", manifest)).toBe(`valid tool/${name}\n`);
  await world.must("ctx", "object", "install", "--source", world.source, manifest);
  world.allow(name);
}

function placed(input: Record<string, string | number>, workspace: string) {
  const entries = Object.entries(input).map(([name, value]) => {
    return [name, typeof value === "string" ? value.replace(/^W\//, `${workspace}/`) : value];
  });
  return Object.fromEntries(entries) as Record<string, string | number>;
}

const namesOf = ({ tools = [] }: Said) => tools.map(({ name }) => name).sort();

interface Said {
  readonly isError?: boolean;
  readonly content?: readonly { readonly text: string }[];
  readonly structuredContent?: object;
  readonly tools?: readonly { readonly name: string }[];
}

/** Status and text of the call, as the inspector gets it. */
async function inspected(
  example: Example,
  tool: string,
  input: Record<string, string | number>,
): Promise<[string, string]> {
  const given = Object.entries(input).flatMap(([name, value]) => [
    ...["--tool-arg", `${name}=${value}`],
  ]);
  const words = ["--method", "tools/call", "--tool-name", tool, ...given];
  const { isError, content = [], structuredContent } = await inspector(example, words);
  const texts = content.map(({ text }) => text);
  const structure = JSON.stringify(structuredContent);
  // What the one text says already is not said twice.
  const said = texts.some((text) => isSame(text, structuredContent));
  const all = structure === undefined || said ? texts : [...texts, structure];
  const text = all.join("\n").replaceAll(world.workspace, "/workspace");
  return [isError === true ? "error" : "ok", text];
}

function isSame(text: string, value: object | undefined): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(value);
  } catch {
    return false;
  }
}

/** What the official inspector's command line prints of the same server. */
async function inspector({ server, args, env }: Example, words: readonly string[]): Promise<Said> {
  const own = [node, program(packages, server), ...args(world.workspace)];
  const child = Bun.spawn([node, inspectorProgram, "--cli", ...own, ...words], {
    cwd: world.base,
    env: { PATH: "/usr/bin:/bin", HOME: world.base, ...env(world.workspace) },
    stdin: "ignore",
    stderr: "ignore",
  });
  return JSON.parse(await new Response(child.stdout).text());
}
