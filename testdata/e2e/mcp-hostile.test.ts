// Hostile servers behind an installed tool, by the compiled programs: what a call of the agent comes to, and
// that nothing of them stays. `ctxmcp list` and `call` have the whole table; here is what only the host
// and the sandbox can answer for.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hostileFiles, hostileServer, pythonArgv } from "../../internal/testkit/mod.ts";
import { leftoversAfterGrace } from "./leftovers.ts";
import { McpWorld } from "./mcp-world.ts";
import { isRoot } from "./world.ts";

setDefaultTimeout(120_000);

const missing = !existsSync("/usr/bin/python3");
if (missing) console.log("SKIP hostile servers of an agent: there is no /usr/bin/python3");

const world = new McpWorld();

/** A call without word from its server ends after this; with progress after ten times of it. */
const settings = ["--set", "session_idle_ms=300", "--set", "tool_timeout_ms=2000"];

/** Descriptors that belong to parts of the host which open on first use. */
const descriptorsSlack = 6;
const residentMiBMax = 160;

interface Row {
  readonly script: readonly string[];
  /** What each of the calls of one run comes to. */
  readonly calls: readonly (readonly ["ok" | "error", RegExp])[];
}

const given = ["ok", /^\{"b": 1\}\n?$/] as const;
const ended = ["error", /^MCP server "plain" ended with status 3$/] as const;
const silent = ["error", /neither answered nor progressed within 2000 ms$/] as const;

const rows: readonly Row[] = [
  { script: ["plain"], calls: [given, given] },
  { script: ["silence", "call"], calls: [silent] },
  { script: ["no-newline", "100", "call"], calls: [["error", /line longer than 16777216 bytes$/]] },
  { script: ["exit", "call"], calls: [ended, ended] },
  { script: ["stopped", "call"], calls: [silent] },
  { script: ["ignores-sigterm-with-child"], calls: [given, given] },
  { script: ["survivor", "call"], calls: [given] },
  { script: ["stderr-for-ever"], calls: [given, given] },
  { script: ["notifications-flood"], calls: [given] },
  {
    script: ["change-the-tool", "schema"],
    calls: [given, ["error", /otherwise than when it was/]],
  },
  { script: ["same-name-twice"], calls: [["error", /has two tools "echo"/]] },
  { script: ["version", "2024-10-07"], calls: [["error", /2024-10-07/]] },
  { script: ["exit", "initialize"], calls: [ended] },
];

describe.skipIf(missing)("a hostile server", () => {
  let idle = 0;
  beforeAll(async () => {
    await world.bootstrap();
    for (const file of hostileFiles) world.bring(file);
    await world.must("ctx", "set", "agent/coder.d/model", "debug/script");
    const [command, ...args] = hostileServer("plain");
    writeFileSync(world.config, JSON.stringify({ mcpServers: { plain: { command, args } } }));
    await world.must(
      ...["ctxmcp", "project", "--config", world.config, "--server", "plain"],
      ...["--runtime-config", "/workspace/.mcp.json", "--out", world.manifests],
    );
    await world.install("echo");
    world.allow("plain.echo");
    await world.serve(settings);
    idle = descriptors();
  });

  afterAll(() => world.destroy());

  for (const { script, calls } of rows) {
    test(`that does "${script.join(" ")}" fails or answers its calls and leaves nothing`, async () => {
      const [command] = pythonArgv;
      const args = [...pythonArgv.slice(1, 3), "/workspace/hostile_server.py", ...script];
      world.describe({ plain: { command, args } });
      const inputs = calls.map(() => ["echo", { b: 1 }] as const);
      const results = await world.call(script.join("-").replaceAll(".", "-"), ...inputs);
      for (const [index, [status, said]] of calls.entries()) {
        expect([index, results[index]?.status, results[index]?.content]).toEqual([
          index,
          status,
          expect.stringMatching(said),
        ]);
      }
      const left = await leftoversAfterGrace(world);
      if (isRoot) expect(left).toEqual([]);
      expect(descriptors()).toBeLessThanOrEqual(idle + descriptorsSlack);
      expect(residentMiB()).toBeLessThan(residentMiBMax);
    });
  }
});

const descriptors = () => readdirSync(`/proc/${world.serverPid}/fd`).length;

function residentMiB(): number {
  const status = readFileSync(join("/proc", `${world.serverPid}`, "status"), "utf8");
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024;
}
