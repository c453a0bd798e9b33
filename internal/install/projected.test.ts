import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "../../testdata/install/candidates.ts";
import { InstallStage } from "../../testdata/install/stage.ts";
import { manifestText, objectText, projectTools } from "../mcp-tool/mod.ts";
import { loadTool } from "../tree/mod.ts";
import { acceptedDefinition } from "./mod.ts";

// A tree is synced to the disk, which a busy machine makes slow.
setDefaultTimeout(60_000);

let stage: InstallStage;
beforeAll(() => {
  stage = new InstallStage();
});
afterAll(() => stage.close());

const schema = {
  $schema: "http://json-schema.org/draft-07/schema#",
  type: "object",
  properties: { "ünï\u2028": { type: "string", description: 'quotes " and \\ and 🙂' } },
} as const;

const tools = [
  { name: "plain", description: "Does it", inputSchema: { type: "object" } },
  { name: "none", inputSchema: schema },
  { name: "long_name-1.x", description: "Two\nlines\n", inputSchema: schema, outputSchema: schema },
] as const;

test("what a projection writes is valid, installs, and is accepted by its definition", () => {
  const folder = join(stage.work, "projected");
  mkdirSync(folder);
  const input = { server: "box", runtimeConfig: "/workspace/.mcp.json", tools };
  const { projected, skipped } = projectTools(input);
  expect([projected.length, skipped]).toEqual([tools.length, []]);
  for (const tool of projected) {
    const executable = objectText(tool.object, sha256(tool.definition));
    const manifest = { tool, serverVersion: "2026.8.31", sha256: sha256(executable) };
    writeFileSync(join(folder, tool.object), executable, { mode: 0o755 });
    const path = join(folder, `${tool.object}.manifest.json`);
    writeFileSync(path, manifestText(manifest));
    const { receipt } = stage.installPath(path);
    expect(receipt.definition).toBe(sha256(tool.definition));
    const loaded = loadTool(stage.tree, "/ctx/tool", tool.object);
    expect(loaded).toMatchObject({ schema: tool.schema, cap: tool.cap, builtin: false });
    expect(loaded.policy?.lines).toEqual([]);
    expect(acceptedDefinition(stage.tree, loaded)).toBe(sha256(tool.definition));
  }
});
