import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { PolicyClass } from "../control/mod.ts";
import { classPermissions, emptyPolicy, formatAllow } from "../policy/mod.ts";
import { facts, identity, line, mount, policy, tool, withTool, write } from "./example.ts";
import {
  decide,
  type Facts,
  firstRefusal,
  formatVerdict,
  type Layer,
  type Question,
} from "./mod.ts";

describe("mode bits", () => {
  const last = (uid: number, gid: number, mode: number) =>
    withTool({ modes: [{ path: "/ctx/tool/fs.write", uid, gid, mode }] });
  const verdict = (changed: Partial<Facts>, who: Partial<Facts["identity"]>) =>
    decide({ ...facts, ...changed, ...identity(who) }, write).layers[2]?.allowed;

  test.each<[string, number, number, number, Partial<Facts["identity"]>, boolean]>([
    ["owner by the owner bit", 1000, 5, 0o100, {}, true],
    ["owner is refused though group and other may", 1000, 1000, 0o011, {}, false],
    ["primary group by the group bit", 5, 1000, 0o010, {}, true],
    ["supplementary group by the group bit", 5, 27, 0o010, { groups: [27] }, true],
    ["group is refused though other may", 5, 27, 0o101, { groups: [27] }, false],
    ["other by the other bit", 5, 5, 0o001, {}, true],
    ["other is refused though owner and group may", 5, 5, 0o110, {}, false],
    ["root by any x bit", 5, 5, 0o010, { uid: 0, rootAgents: true }, true],
    ["root without any x bit", 0, 0, 0o666, { uid: 0, rootAgents: true }, false],
  ])("%s", (_, uid, gid, mode, who, allowed) => {
    expect(verdict(last(uid, gid, mode), who)).toBe(allowed);
  });

  test("root searches a folder that nobody may", () => {
    const modes = [
      { path: "/ctx/tool", uid: 5, gid: 5, mode: 0o000 },
      { path: "/ctx/tool/fs.write", uid: 5, gid: 5, mode: 0o100 },
    ];
    expect(verdict(withTool({ modes }), { uid: 0, rootAgents: true })).toBe(true);
    expect(verdict(withTool({ modes }), { uid: 5 })).toBe(false);
  });
});

describe("perm gates", () => {
  test.each<[string, string]>([
    ...["fs.read", "fs.list", "fs.stat"].map((name): [string, string] => [name, "r"]),
    ...["fs.write", "fs.replace"].map((name): [string, string] => [name, "w"]),
    ...["shell.exec", "bash", "tmux", "zellij"].map((name): [string, string] => [name, "x"]),
    ...["tsh", "agent.create", "github.search", "fs.readx"].map((n): [string, string] => [n, ""]),
  ])("%s needs %j", (name, letter) => {
    for (const text of ["---", "--x", "-w-", "-wx", "r--", "r-x", "rw-", "rwx"]) {
      const [read, write_, execute] = [...text].map((sign) => sign !== "-");
      const perm = { read: read === true, write: write_ === true, execute: execute === true };
      const question: Question = { object: { class: "tool", name }, permission: "execute" };
      const layer = decide({ ...facts, perm, permText: text }, question).layers[4];
      expect([text, layer?.allowed]).toEqual([text, text.includes(letter)]);
    }
  });
});

describe("other classes", () => {
  const ask = (kind: PolicyClass, name: string, permission: string): Question => ({
    object: { class: kind, name },
    permission,
  });
  const bare = { ...facts, tool: undefined };

  test("are decided by the agent's policy alone, and refused without a line", () => {
    const questions: Question[] = Object.entries(classPermissions)
      .filter(([kind]) => kind !== "tool")
      .flatMap(([kind, permissions]) => {
        const name = kind === "model" ? "debug/echo" : kind === "network" ? "default" : "project-a";
        return permissions.map((permission) => ask(kind as PolicyClass, name, permission));
      });
    expect(questions.length).toBe(14);
    for (const question of questions) {
      const text = formatAllow("coder_t", question.object, question.permission);
      expect(decide({ ...bare, policy: policy(text) }, question).allowed).toBe(true);
      const verdict = decide({ ...bare, policy: emptyPolicy }, question);
      expect([verdict.code, firstRefusal(verdict)?.layer]).toEqual(["EACCES", "agent_policy"]);
    }
  });

  test("a model's own policy must allow too when it has one", () => {
    const use = ask("model", "debug/echo", "use");
    const allowed = { ...bare, policy: policy("allow coder_t model:debug/echo use") };
    const file = "model/debug/echo.d/policy";
    expect(decide({ ...allowed, modelPolicy: { file, policy: emptyPolicy } }, use)).toMatchObject({
      allowed: false,
      code: "EACCES",
    });
    const own = { file, policy: policy("", "allow coder_t model:debug/echo use") };
    const verdict = decide({ ...allowed, modelPolicy: own }, use);
    expect([verdict.allowed, verdict.layers[7]?.at]).toEqual([true, `${file}:2`]);
  });

  test("a missing object is ENOENT in the path layer", () => {
    const use = ask("model", "debug/none", "use");
    const verdict = decide({ ...bare, exists: false, policy: emptyPolicy }, use);
    expect(verdict.code).toBe("ENOENT");
    expect(firstRefusal(verdict)?.because).toBe('model "debug/none" does not exist');
  });
});

describe("by property", () => {
  const flag = fc.boolean();
  const anyFacts: fc.Arbitrary<Facts> = fc
    .record({
      agentLine: flag,
      toolLine: flag,
      toolPolicy: flag,
      read: flag,
      write: flag,
      execute: flag,
      noexec: flag,
      mode: fc.integer({ min: 0, max: 0o777 }),
      uid: fc.constantFrom(0, 1000, 1001),
      serverUid: fc.constantFrom(0, 1000),
      rootAgents: flag,
      hit: flag,
      defect: flag,
    })
    .map((pick) => ({
      ...facts,
      identity: {
        ...facts.identity,
        uid: pick.uid,
        serverUid: pick.serverUid,
        serverGid: 1000,
        rootAgents: pick.rootAgents,
      },
      perm: { read: pick.read, write: pick.write, execute: pick.execute },
      policy: pick.agentLine ? policy(line) : emptyPolicy,
      mounts: pick.noexec ? [mount("/ctx", true)] : [],
      exists: pick.hit,
      tool: {
        ...tool,
        path: pick.hit ? tool.path : undefined,
        modes: [{ path: "/ctx/tool/fs.write", uid: 1000, gid: 27, mode: pick.mode }],
        policy: pick.toolPolicy ? (pick.toolLine ? policy(line) : emptyPolicy) : undefined,
        defect: pick.defect ? "damaged" : undefined,
      },
    }));

  test("the answer is the conjunction of the layers, and a refusal always has a reason and a code", () => {
    fc.assert(
      fc.property(anyFacts, (some) => {
        const verdict = decide(some, write);
        expect(verdict.layers.map((layer) => layer.layer)).toEqual([
          ...(["path", "identity", "mode", "mount", "perm", "label"] as const),
          ...(["agent_policy", "object_policy"] as const),
        ]);
        expect(verdict.allowed).toBe(firstRefusal(verdict) === undefined);
        expect(verdict.code === undefined).toBe(verdict.allowed);
        for (const layer of verdict.layers) expect(layer.because).not.toBe("");
        expect(formatVerdict("coder", write, verdict).split("\n").length).toBeGreaterThan(8);
      }),
      { numRuns: 500 },
    );
  });

  test("adding an allow line to either policy never takes a permission away", () => {
    const extra = fc.constantFrom(
      line,
      "allow coder_t tool:fs.read execute",
      "allow other_t tool:fs.write execute",
      "allow coder_t network:default connect",
    );
    fc.assert(
      fc.property(anyFacts, extra, flag, (some, added, toTool) => {
        const before = decide(some, write).allowed;
        const grown = (old: Facts["policy"] | undefined) =>
          policy(
            ...(old?.lines ?? []).map((l) => formatAllow(l.subject, l.object, l.permission)),
            added,
          );
        const after = toTool
          ? { ...some, tool: { ...tool, ...some.tool, policy: grown(some.tool?.policy) } }
          : { ...some, policy: grown(some.policy) };
        expect(decide(after, write).allowed || !before).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test("taking away what any one layer needs refuses, and that layer says so", () => {
    const removals: [Layer, Partial<Facts>][] = [
      ["path", { ...withTool({ path: undefined }), exists: false }],
      ["identity", identity({ uid: 0 })],
      ["mode", withTool({ modes: [{ path: "/ctx/tool/fs.write", uid: 0, gid: 0, mode: 0o770 }] })],
      ["mount", { mounts: [mount("/ctx/tool", true)] }],
      ["perm", { perm: { read: true, write: false, execute: true } }],
      ["agent_policy", { policy: emptyPolicy }],
      ["object_policy", withTool({ policy: emptyPolicy })],
    ];
    for (const [layer, removed] of removals) {
      const verdict = decide({ ...facts, ...removed }, write);
      expect([layer, verdict.allowed]).toEqual([layer, false]);
      expect(firstRefusal(verdict)?.layer).toBe(layer);
    }
  });

  test("what a refusal says would allow it does", () => {
    const off = { ...withTool({ policy: emptyPolicy }), policy: emptyPolicy };
    const [agentFix, toolFix] = decide({ ...facts, ...off }, write)
      .layers.map((layer) => layer.fix?.line)
      .filter((text) => text !== undefined) as [string, string];
    const fixed = { ...withTool({ policy: policy(toolFix) }), policy: policy(agentFix) };
    expect(decide({ ...facts, ...fixed }, write).allowed).toBe(true);
  });
});
