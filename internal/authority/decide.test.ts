import { describe, expect, test } from "bun:test";
import { emptyPolicy } from "../policy/mod.ts";
import { facts, identity, line, mount, tool, withTool, write } from "./example.ts";
import {
  decide,
  type Facts,
  firstRefusal,
  formatVerdict,
  type ModeFacts,
  type Question,
} from "./mod.ts";

/** The refusing layers with their reasons, and the code. */
function refusal(changed: Partial<Facts>, question: Question = write) {
  const verdict = decide({ ...facts, ...changed }, question);
  const refused = verdict.layers.filter((layer) => !layer.allowed);
  expect(verdict.allowed).toBe(refused.length === 0);
  return [verdict.code, ...refused.map(({ layer, because }) => `${layer}: ${because}`)];
}

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
