import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { MountLine, PolicyClass } from "../control/mod.ts";
import { classPermissions, emptyPolicy, formatAllow, parsePolicy } from "../policy/mod.ts";
import {
  decide,
  type Facts,
  firstRefusal,
  formatVerdict,
  type Layer,
  type ModeFacts,
  type Question,
} from "./mod.ts";

function policy(...lines: readonly string[]) {
  const parsed = parsePolicy(lines.map((line) => `${line}\n`).join(""));
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.value;
}

const write: Question = { object: { class: "tool", name: "fs.write" }, permission: "execute" };
const line = "allow coder_t tool:fs.write execute";

const tool: NonNullable<Facts["tool"]> = {
  search: [{ folder: "/ctx/tool", found: "executable" }],
  path: "/ctx/tool/fs.write",
  modes: [
    { path: "/ctx/tool", uid: 0, gid: 0, mode: 0o40755 },
    { path: "/ctx/tool/fs.write", uid: 0, gid: 0, mode: 0o100755 },
  ],
  policy: policy("# tool", line),
  policyFile: "tool/fs.write.d/policy",
  defect: undefined,
};

const facts: Facts = {
  agent: "coder",
  controls: "agent/coder.d",
  identity: {
    uid: 1000,
    gid: 1000,
    groups: [],
    serverUid: 0,
    serverGid: 0,
    serverGroups: [],
    rootAgents: false,
  },
  perm: { read: true, write: true, execute: false },
  permText: "rw-",
  subject: "coder_t",
  policy: policy(line),
  policyFile: "agent/coder.d/policy",
  permFile: "agent/coder.d/perm",
  labelFile: "agent/coder.d/label",
  mounts: [],
  tool,
  modelPolicy: undefined,
  exists: true,
};

/** The refusing layers with their reasons, and the code. */
function refusal(changed: Partial<Facts>, question: Question = write) {
  const verdict = decide({ ...facts, ...changed }, question);
  const refused = verdict.layers.filter((layer) => !layer.allowed);
  expect(verdict.allowed).toBe(refused.length === 0);
  return [verdict.code, ...refused.map(({ layer, because }) => `${layer}: ${because}`)];
}

const identity = (changed: Partial<Facts["identity"]>): Partial<Facts> => ({
  identity: { ...facts.identity, ...changed },
});
const withTool = (changed: Partial<typeof tool>): Partial<Facts> => ({
  tool: { ...tool, ...changed },
});
const mount = (target: string, noexec: boolean, at = 1): MountLine => ({
  source: "/srv/tools",
  target,
  access: "ro",
  recursive: false,
  nosuid: true,
  nodev: false,
  noexec,
  line: at,
});

describe("decide() allows", () => {
  test("when every layer does, each with its reason and its place, in decision order", () => {
    const verdict = decide(facts, write);
    expect(verdict.code).toBeUndefined();
    expect(verdict.layers).toEqual([
      {
        layer: "path",
        allowed: true,
        because: "CTX_PATH leads to /ctx/tool/fs.write",
        at: "agent/coder.d/path:1",
        fix: undefined,
      },
      {
        layer: "identity",
        allowed: true,
        because: "runs as uid 1000, gid 1000",
        at: undefined,
        fix: undefined,
      },
      {
        layer: "mode",
        allowed: true,
        because: "uid 1000 may reach and execute /ctx/tool/fs.write",
        at: undefined,
        fix: undefined,
      },
      {
        layer: "mount",
        allowed: true,
        because: "no mount lies over /ctx/tool/fs.write",
        at: undefined,
        fix: undefined,
      },
      {
        layer: "perm",
        allowed: true,
        because: "perm is rw-, fs.write needs w",
        at: "agent/coder.d/perm:1",
        fix: undefined,
      },
      {
        layer: "label",
        allowed: true,
        because: "the policy subject is coder_t",
        at: "agent/coder.d/label:1",
        fix: undefined,
      },
      {
        layer: "agent_policy",
        allowed: true,
        because: line,
        at: "agent/coder.d/policy:1",
        fix: undefined,
      },
      {
        layer: "object_policy",
        allowed: true,
        because: line,
        at: "tool/fs.write.d/policy:2",
        fix: undefined,
      },
    ]);
  });
});

describe("decide() refuses", () => {
  test("a tool that no folder of CTX_PATH has with ENOENT, and says what each one had", () => {
    const search = [
      { folder: "/ctx/tool", found: "absent" },
      { folder: "/opt/tools", found: "unreachable" },
    ] as const;
    const none = { search, path: undefined, modes: [], policy: undefined };
    expect(refusal({ ...withTool(none), exists: false })).toEqual([
      "ENOENT",
      'path: CTX_PATH leads to no executable "fs.write": /ctx/tool does not hold it, /opt/tools cannot be searched',
    ]);
    const empty = { ...withTool({ ...none, search: [] }), exists: false };
    expect(refusal(empty)).toEqual(["ENOENT", "path: CTX_PATH has no folder"]);
  });

  test("a file that is there but cannot run with EACCES", () => {
    const search = [{ folder: "/ctx/tool", found: "not_executable" }] as const;
    expect(refusal(withTool({ search, path: undefined, modes: [], policy: undefined }))).toEqual([
      "EACCES",
      'path: CTX_PATH leads to no executable "fs.write": /ctx/tool holds a file that is not executable',
    ]);
  });

  test("a tool with a malformed control by naming the control, not its policy", () => {
    const defect = '"tool/fs.write.d/schema" line 2, column 1: JSON value is not an object';
    expect(refusal(withTool({ defect, policy: undefined }))).toEqual([
      "EACCES",
      `path: tool "fs.write" is unavailable: ${defect}`,
    ]);
  });

  test("uid 0 unless the host allows root agents", () => {
    expect(refusal(identity({ uid: 0 }))).toEqual([
      "EACCES",
      "identity: uid is 0, no agent runs as root unless the host setting root_agents is allow",
    ]);
    expect(refusal(identity({ uid: 0, rootAgents: true }))).toEqual([undefined]);
  });

  test("another identity than the server's when the server is not root", () => {
    const server = { serverUid: 1000, serverGid: 1000, serverGroups: [27, 44] };
    expect(refusal(identity({ ...server, uid: 1001 }))).toEqual([
      "EACCES",
      "identity: uid is 1001, ctxd has 1000 and is not root, so it cannot change it",
    ]);
    expect(refusal(identity({ ...server, gid: 27 }))).toEqual([
      "EACCES",
      "identity: gid is 27, ctxd has 1000 and is not root, so it cannot change it",
    ]);
    expect(refusal(identity({ ...server, groups: [27, 44, 27, 1000] }))).toEqual([undefined]);
  });

  test("other groups than the server's, and says what to write into groups", () => {
    const server = { serverUid: 1000, serverGid: 1000, serverGroups: [1000, 44, 27] };
    const verdict = decide({ ...facts, ...identity({ ...server, groups: [27] }) }, write);
    expect(firstRefusal(verdict)).toEqual({
      layer: "identity",
      allowed: false,
      because: "groups are 27, ctxd has 27 44 and is not root, so it can neither add nor drop one",
      at: "agent/coder.d/groups",
      fix: { file: "agent/coder.d/groups", line: "27\n44" },
    });
    expect(refusal(identity({ ...server, serverGroups: [], groups: [27] }))).toEqual([
      "EACCES",
      "identity: groups are 27, ctxd has none and is not root, so it can neither add nor drop one; the file must be empty",
    ]);
  });

  test("a folder that cannot be searched and a file that cannot be executed", () => {
    const [folder, file] = tool.modes as [ModeFacts, ModeFacts];
    expect(refusal(withTool({ modes: [{ ...folder, mode: 0o40700 }, file] }))).toEqual([
      "EACCES",
      "mode: /ctx/tool has mode 0700 of 0:0, uid 1000 needs x to search it as other",
    ]);
    expect(refusal(withTool({ modes: [folder, { ...file, mode: 0o100744 }] }))).toEqual([
      "EACCES",
      "mode: /ctx/tool/fs.write has mode 0744 of 0:0, uid 1000 needs x to execute it as other",
    ]);
  });

  test("below a noexec mount, by the last mount that lies over the place", () => {
    const over = { mounts: [mount("/ctx", false), mount("/ctx/tool", true, 2)] };
    const verdict = decide({ ...facts, ...over }, write);
    expect(firstRefusal(verdict)).toEqual({
      layer: "mount",
      allowed: false,
      because: "/ctx/tool/fs.write lies below /ctx/tool, which is mounted noexec",
      at: "agent/coder.d/mount:2",
      fix: { file: "agent/coder.d/mount", line: "/srv/tools\t/ctx/tool\tro\tnosuid" },
    });
    expect(refusal({ mounts: [mount("/ctx/tool", true), mount("/ctx", false)] })).toEqual([
      undefined,
    ]);
    expect(refusal({ mounts: [mount("/ctx/to", true), mount("/workspace", true)] })).toEqual([
      undefined,
    ]);
    expect(refusal({ mounts: [mount("/", true)] })[0]).toBe("EACCES");
  });

  test("without the perm letter, and shows the triplet that would do", () => {
    const perm = { read: true, write: false, execute: true };
    const verdict = decide({ ...facts, perm, permText: "r-x" }, write);
    expect(firstRefusal(verdict)).toEqual({
      layer: "perm",
      allowed: false,
      because: "perm is r-x, fs.write needs w",
      at: "agent/coder.d/perm:1",
      fix: { file: "agent/coder.d/perm", line: "rwx" },
    });
  });

  test("without the line in either policy, and shows the line for each", () => {
    const verdict = decide({ ...facts, subject: "other_t" }, write);
    const fixes = verdict.layers.map((layer) => layer.fix).filter((fix) => fix !== undefined);
    expect(fixes).toEqual([
      { file: "agent/coder.d/policy", line: "allow other_t tool:fs.write execute" },
      { file: "tool/fs.write.d/policy", line: "allow other_t tool:fs.write execute" },
    ]);
    expect(refusal(withTool({ policy: undefined }))).toEqual([
      "EACCES",
      "object_policy: tool/fs.write.d/policy is missing, so it allows nothing",
    ]);
  });

  test("with every reason at once, not only the first", () => {
    const none = { read: false, write: false, execute: false };
    const all = { ...identity({ uid: 0 }), ...withTool({ policy: emptyPolicy }) };
    const worst = { ...all, perm: none, permText: "---", policy: emptyPolicy };
    const mounts = [mount("/ctx", true)];
    expect(
      refusal({ ...worst, mounts })
        .slice(1)
        .map((text) => String(text).split(":")[0]),
    ).toEqual(["identity", "mount", "perm", "agent_policy", "object_policy"]);
  });

  test("a permission that the class does not know with EINVAL", () => {
    expect(refusal({}, { ...write, permission: "read" })).toEqual([
      "EINVAL",
      'agent_policy: permission "read" is not one that tool knows: execute',
      "object_policy: no line of tool/fs.write.d/policy says: allow coder_t tool:fs.write read",
    ]);
  });
});

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

describe("formatVerdict()", () => {
  test("prints every layer with its place and the line that would allow", () => {
    const perm = { perm: { read: true, write: false, execute: true }, permText: "r-x" };
    const verdict = decide({ ...facts, ...perm, policy: emptyPolicy }, write);
    expect(formatVerdict("coder", write, verdict)).toBe(
      [
        "coder tool:fs.write execute: refused [EACCES]",
        "  ok       path           CTX_PATH leads to /ctx/tool/fs.write (agent/coder.d/path:1)",
        "  ok       identity       runs as uid 1000, gid 1000",
        "  ok       mode           uid 1000 may reach and execute /ctx/tool/fs.write",
        "  ok       mount          no mount lies over /ctx/tool/fs.write",
        "  refused  perm           perm is r-x, fs.write needs w (agent/coder.d/perm:1)",
        "                          to allow it, agent/coder.d/perm needs the line",
        "                            rwx",
        "  ok       label          the policy subject is coder_t (agent/coder.d/label:1)",
        "  refused  agent_policy   no line of agent/coder.d/policy says: allow coder_t tool:fs.write execute",
        "                          to allow it, agent/coder.d/policy needs the line",
        "                            allow coder_t tool:fs.write execute",
        "  ok       object_policy  allow coder_t tool:fs.write execute (tool/fs.write.d/policy:2)",
      ].join("\n"),
    );
  });
});
