// A tool that a server has counts only as it was installed, and before that as little as one without
// its policy lines. Both are named together, by the function that enforces it.

import { afterAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isRoot, TestTree } from "../../testdata/tree/test-tree.ts";
import { loadAgent, type Tree } from "../tree/mod.ts";
import { authorize, decide, formatVerdict, gatherFacts, type Question } from "./mod.ts";

// A tree is synced to the disk, which a busy machine makes slow.
setDefaultTimeout(60_000);

const made = new TestTree();
made.bootstrap();
const tree: Tree = made.open();
afterAll(() => {
  tree.close();
  made.destroy();
});

const name = "box.open";
const line = `allow coder_t tool:${name} execute`;
const agentPolicy = readFileSync(made.path("agent/coder.d/policy"), "utf8");
const question: Question = { object: { class: "tool", name }, permission: "execute" };
const server = isRoot
  ? { uid: 0, groups: [], rootAgents: false }
  : { ...made.owner, groups: [], rootAgents: false };

const controls = {
  name: `${name}\n`,
  description: "Opens a box\n",
  schema: '{"type":"object"}\n',
  policy: "",
  mcp: "transport=stdio\nconfig=/workspace/.mcp.json\nserver=box\ntool=open\n",
};

beforeEach(() => {
  rmSync(made.path(`tool/${name}`), { force: true });
  rmSync(made.path(`tool/${name}.d`), { recursive: true, force: true });
  mkdirSync(made.path(`tool/${name}.d`));
  for (const [control, text] of Object.entries(controls)) {
    writeFileSync(made.path(`tool/${name}.d/${control}`), text);
  }
  writeFileSync(made.path(`tool/${name}`), "#!/ctx/bin/ctx exec\n# class: tool\n");
  chmodSync(made.path(`tool/${name}`), 0o755);
  writeFileSync(made.path("agent/coder.d/policy"), agentPolicy);
});

function receipt(change: Record<string, unknown> = {}): void {
  const content = readFileSync(made.path(`tool/${name}`));
  const sha256 = new Bun.CryptoHasher("sha256").update(content).digest("hex");
  const hex = "a".repeat(64);
  const value = {
    ...{ schema: "cortexfs.object-install/v2", class: "tool", name, version: "1.0.0" },
    ...{ tier: "system", manifest_sha256: hex, definition: hex },
    executable: { dev: "1", ino: "2", sha256, bytes: content.length },
    installed_at: "2026-01-02T03:04:05Z",
    ...change,
  };
  writeFileSync(made.path(`tool/${name}.d/install.json`), JSON.stringify(value));
}

function grant(): void {
  writeFileSync(made.path("agent/coder.d/policy"), `${agentPolicy}${line}\n`);
  writeFileSync(made.path(`tool/${name}.d/policy`), `${line}\n`);
}

const input = () => ({
  tree,
  agent: "coder",
  controls: loadAgent(tree, "coder"),
  server,
  question,
});
const explained = () => formatVerdict("coder", question, decide(gatherFacts(input()), question));
const refusals = () =>
  decide(gatherFacts(input()), question).layers.flatMap(({ layer, allowed, because }) =>
    allowed ? [] : [`${layer}: ${because}`],
  );

test("before anything, the missing receipt and both lines are named", () => {
  const text = explained();
  expect(text).toContain(`tool "${name}" is of a server and was not installed; install it: ctxmcp`);
  expect(text).toContain(`to allow it, agent/coder.d/policy needs the line\n`);
  expect(text).toContain(`to allow it, tool/${name}.d/policy needs the line\n`);
  expect(text.split("\n").filter((one) => one.trim() === line)).toHaveLength(2);
  expect(authorize(input()).tool).toBeUndefined();
});

test("installed, each missing line is named, and with both it is allowed", () => {
  receipt();
  expect(refusals()).toEqual([
    `agent_policy: no line of agent/coder.d/policy says: ${line}`,
    `object_policy: no line of tool/${name}.d/policy says: ${line}`,
  ]);
  grant();
  expect(refusals()).toEqual([]);
  expect(authorize(input()).tool?.mcp).toMatchObject({ server: "box", tool: "open" });
  writeFileSync(made.path(`tool/${name}.d/policy`), "");
  expect(refusals()).toEqual([`object_policy: no line of tool/${name}.d/policy says: ${line}`]);
});

test("with both lines and no receipt that holds, it is refused and the reason named", () => {
  grant();
  const unavailable = (reason: string) => [`path: tool "${name}" is unavailable: ${reason}`];
  const hint = "install it: ctxmcp project, then ctx object install";
  const none = `tool "${name}" is of a server and was not installed; ${hint}`;
  expect(refusals()).toEqual(unavailable(none));
  receipt({ definition: undefined });
  expect(refusals()).toEqual(unavailable(none));
  receipt({ name: "box.shut" });
  expect(refusals().join()).toContain(`it is the receipt of "tool/box.shut"`);
  receipt();
  expect(refusals()).toEqual([]);
  // A tree that was restored from a backup has other inodes, and is the same tree.
  const path = made.path(`tool/${name}`);
  const text = readFileSync(path);
  rmSync(path);
  writeFileSync(path, text, { mode: 0o755 });
  expect(refusals()).toEqual([]);
  writeFileSync(path, `${text}# mcp-definition: sha256:${"b".repeat(64)}\n`);
  const other = `the executable of tool "${name}" is not the one that was installed`;
  expect(refusals()).toEqual(unavailable(`${other}; see ctx object inspect tool/${name}`));
});

test("a program of its own needs no receipt, whatever stands beside it", () => {
  grant();
  writeFileSync(made.path(`tool/${name}`), "#!/bin/sh\n");
  expect(refusals()).toEqual([]);
});
