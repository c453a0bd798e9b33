import { describe, expect, test } from "bun:test";
import {
  type AgentControlName,
  agentControls,
  controlNames,
  isRuntimeOwned,
  parseAgentControl,
  validateControl,
} from "./mod.ts";

const parse = (name: AgentControlName, text: string): unknown => {
  const parsed = parseAgentControl(name, text);
  return parsed.ok ? parsed.value : `${parsed.line}:${parsed.column} ${parsed.reason}`;
};

describe("agent controls accept", () => {
  test.each<[AgentControlName, string, unknown]>([
    ["owner", "1000\n", 1000],
    ["uid", "0\n", 0],
    ["gid", "4294967294\n", 4294967294],
    ["groups", "", []],
    ["groups", "27\n1000\n27\n", [27, 1000, 27]],
    ["perm", "r-x\n", { read: true, write: false, execute: true }],
    ["perm", "---\n", { read: false, write: false, execute: false }],
    ["label", "coder_t\n", { text: "coder_t", type: "coder_t" }],
    ["label", "review-1_t\n", { text: "review-1_t", type: "review-1_t" }],
    [
      "label",
      "user_u:agent_r:coder_t:s0\n",
      { text: "user_u:agent_r:coder_t:s0", type: "coder_t" },
    ],
    [
      "label",
      "user_u:agent_r:coder_t:s0-s3:c0.c9\n",
      { text: "user_u:agent_r:coder_t:s0-s3:c0.c9", type: "coder_t" },
    ],
    ["iso", "userns\n", "userns"],
    ["parent", "agent:coder\n", "agent:coder"],
    [
      "parent",
      "agent:coder session:build-7 run:ctx-0123456789abcdef0123456789abcdef\n",
      "agent:coder session:build-7 run:ctx-0123456789abcdef0123456789abcdef",
    ],
    ["parent", "agent:coder run:run-1\n", "agent:coder run:run-1"],
    ["life", "temp\n", "temp"],
    ["root", "/\n", "/"],
    ["cwd", "/workspace/a b\n", "/workspace/a b"],
    ["env", "", new Map()],
    [
      "env",
      "A=1\n_b=x=y \nEMPTY=\n",
      new Map([
        ["A", "1"],
        ["_b", "x=y "],
        ["EMPTY", ""],
      ]),
    ],
    ["path", "", []],
    ["path", "/ctx/tool\n/ctx/home/1000/tool\n", ["/ctx/tool", "/ctx/home/1000/tool"]],
    ["mount", "", []],
    [
      "mount",
      "/srv/a\t/a\tro\t-\n/srv/b c\t/b\trw\trbind,nosuid,nodev,noexec\n",
      [
        {
          source: "/srv/a",
          target: "/a",
          access: "ro",
          recursive: false,
          nosuid: false,
          nodev: false,
          noexec: false,
          line: 1,
        },
        {
          source: "/srv/b c",
          target: "/b",
          access: "rw",
          recursive: true,
          nosuid: true,
          nodev: true,
          noexec: true,
          line: 2,
        },
      ],
    ],
    [
      "model",
      "openai/gpt-5.6\nmain\n",
      [
        { kind: "ref", ref: { provider: "openai", model: "gpt-5.6" } },
        { kind: "alias", name: "main" },
      ],
    ],
    ["window", "auto\n", "auto"],
    ["window", "1\n", 1],
    ["window", "4294967295\n", 4294967295],
    ["tools", "", []],
    ["tools", "fs.read\nshell.exec\n", ["fs.read", "shell.exec"]],
    ["abi", "sdk-envelope-v1\n", "sdk-envelope-v1"],
    ["approval", "ask\n", "ask"],
    ["policy", "# none\n\n", []],
    ["system.md", "be kind\nno newline at the end", "be kind\nno newline at the end"],
    ["status", "stopping\n", "stopping"],
    ["pid", "", undefined],
    ["pid", "\n", undefined],
    ["pid", "4121\n", 4121],
    ["log", '{"a":1}\n{"b":[]}\n', [{ a: 1 }, { b: [] }]],
    ["meta.json", '{\n  "receipt": null\n}\n', { receipt: null }],
  ])("%s %j", (name, text, value) => {
    expect(parse(name, text)).toEqual(value);
  });
});

describe("agent controls refuse with the place and the reason", () => {
  test.each<[AgentControlName, string, string]>([
    ["owner", "", "1:1 file is empty, it must hold one line"],
    ["owner", "\n", "1:1 line is blank"],
    ["owner", "1000", "1:5 last line does not end in a newline, it may have been cut"],
    ["owner", "1000\n\n", "2:1 only one line is allowed"],
    ["owner", "1000\n1001\n", "2:1 only one line is allowed"],
    ["owner", "1000\r\n", "1:5 carriage return, lines end in LF alone"],
    ["owner", " 1000\n", "1:1 value starts with a space"],
    ["owner", "1000 \n", "1:5 value ends with a space"],
    ["owner", "\ufeff1000\n", "1:1 file starts with a byte order mark"],
    ["owner", "01000\n", '1:1 owner "01000" has a leading zero'],
    ["owner", "+1\n", '1:1 owner "+1" is not a decimal number'],
    ["owner", "1e3\n", '1:2 owner "1e3" is not a decimal number'],
    ["owner", "١٢\n", '1:1 owner "١٢" is not a decimal number'],
    ["uid", "-1\n", '1:1 uid "-1" is not a decimal number'],
    ["uid", "4294967295\n", '1:1 uid "4294967295" is not between 0 and 4294967294'],
    ["uid", `${"9".repeat(400)}\n`, `1:1 uid "${"9".repeat(96)}…" is not between 0 and 4294967294`],
    ["gid", "root\n", '1:1 gid "root" is not a decimal number'],
    ["groups", "27\n\n28\n", "2:1 line is blank"],
    ["groups", "27 28\n", '1:3 group "27 28" is not a decimal number'],
    ["groups", "27\n0x10\n", '2:2 group "0x10" is not a decimal number'],
    ["perm", "rw\n", '1:3 perm "rw" needs "x" or "-" as letter 3'],
    ["perm", "rwz\n", '1:3 perm "rwz" needs "x" or "-" as letter 3'],
    ["perm", "xwr\n", '1:1 perm "xwr" needs "r" or "-" as letter 1'],
    ["perm", "rwxr\n", '1:4 perm "rwxr" has more than 3 letters'],
    ["perm", "RWX\n", '1:1 perm "RWX" needs "r" or "-" as letter 1'],
    ["label", "coder\n", '1:1 label type "coder" does not end in "_t"'],
    ["label", "_t\n", '1:1 label type "_t" does not start with a letter or digit'],
    ["label", "co*_t\n", '1:3 label type "co*_t" holds "*"'],
    ["label", "a:b\n", '1:1 label "a:b" is neither "type_t" nor "user_u:role_r:type_t:s0"'],
    ["label", "user:agent_r:coder_t\n", '1:1 label user "user" does not read like "user_u"'],
    ["label", "user_u:agent:coder_t\n", '1:8 label role "agent" does not read like "agent_r"'],
    ["label", "user_u:agent_r:coder:s0\n", '1:16 label type "coder" does not end in "_t"'],
    ["label", "user_u:agent_r:coder_t:x\n", '1:24 label range "x" does not read like "s0"'],
    ["iso", "none\n", '1:1 iso "none" is not one of shared, uid, userns'],
    ["parent", "coder\n", '1:1 parent field "coder" does not fit agent:NAME [session:S] [run:R]'],
    [
      "parent",
      "session:s agent:a\n",
      '1:1 parent field "session:s" does not fit agent:NAME [session:S] [run:R]',
    ],
    [
      "parent",
      "agent:a  run:r\n",
      '1:9 parent field "" does not fit agent:NAME [session:S] [run:R]',
    ],
    [
      "parent",
      "agent:a run:r run:r\n",
      '1:15 parent field "run:r" does not fit agent:NAME [session:S] [run:R]',
    ],
    ["parent", "agent:../x\n", '1:7 agent name "../x" is not valid'],
    ["parent", "agent:a session:index\n", '1:17 session name "index" is not valid'],
    ["life", "eternal\n", '1:1 life "eternal" is not one of owned, temp'],
    ["root", "relative\n", '1:1 path "relative" is not absolute'],
    ["root", "/a/../b\n", '1:4 path holds "..", it must be canonical'],
    ["cwd", "/a/./b\n", '1:4 path holds ".", it must be canonical'],
    ["cwd", "/a//b\n", "1:3 path holds an empty component"],
    ["cwd", "/a/\n", "1:3 path ends in a slash"],
    ["cwd", "//\n", "1:1 path holds an empty component"],
    ["cwd", `/${"a".repeat(256)}\n`, "1:2 path component is longer than 255 bytes"],
    ["cwd", `${"/aaaaaaa".repeat(512)}\n`, "1:1 path is longer than 4095 bytes"],
    ["cwd", "/a\tb\n", "1:3 path holds a control character"],
    ["cwd", "/a\0b\n", "1:3 character U+0000 is not allowed"],
    ["env", "A\n", "1:2 line is not KEY=VALUE"],
    ["env", "A=1\n\nB=2\n", "2:1 line is blank"],
    ["env", "1A=x\n", '1:1 variable name "1A" is not letters, digits and "_"'],
    ["env", "=x\n", '1:1 variable name "" is not letters, digits and "_"'],
    [
      "env",
      "A=1\nCTX_AGENT=mallory\n",
      "2:1 variable CTX_AGENT belongs to the runtime, CTX_ names cannot be set",
    ],
    ["env", "A=1\nA=2\n", '2:1 key "A" is set on line 1 already'],
    ["env", "A=\u001b[2J\n", "1:3 character U+001B is not allowed"],
    ["path", "tool\n", '1:1 path "tool" is not absolute'],
    ["path", "/a:/b\n", "1:3 folder holds a colon, which separates CTX_PATH entries"],
    ["path", "/ctx/tool\n /ctx/x\n", "2:1 value starts with a space"],
    [
      "mount",
      "/a /b ro -\n",
      '1:11 mount has 1 fields, it needs 4 separated by TAB: source, target, ro or rw, options or "-"',
    ],
    [
      "mount",
      "/a\t/b\tro\t-\tx\n",
      '1:11 mount has 5 fields, it needs 4 separated by TAB: source, target, ro or rw, options or "-"',
    ],
    ["mount", "a\t/b\tro\t-\n", '1:1 mount source: path "a" is not absolute'],
    ["mount", "/a\t/b/..\tro\t-\n", '1:7 mount target: path holds "..", it must be canonical'],
    ["mount", "/a\t/b\trx\t-\n", '1:7 mount access "rx" is neither "ro" nor "rw"'],
    [
      "mount",
      "/a\t/b\tro\tbind,exec\n",
      '1:15 mount option "exec" is not one of bind, rbind, nosuid, nodev, noexec, or "-"',
    ],
    [
      "mount",
      "/a\t/b\tro\tbind, nodev\n",
      '1:15 mount option " nodev" is not one of bind, rbind, nosuid, nodev, noexec, or "-"',
    ],
    ["mount", "/a\t/b\tro\tnodev,nodev\n", '1:16 mount option "nodev" is repeated'],
    ["mount", "/a\t/b\tro\tbind,rbind\n", "1:15 mount options bind and rbind exclude each other"],
    ["mount", "/a\t/b\tro\trbind,bind\n", "1:16 mount options bind and rbind exclude each other"],
    [
      "mount",
      "/a\t/b\tro\t-,nodev\n",
      '1:10 mount option "-" is not one of bind, rbind, nosuid, nodev, noexec, or "-"',
    ],
    ["model", "", "1:1 file is empty, it must name a model"],
    ["model", "a/b/c\n", '1:1 model "a/b/c" is neither provider/model nor an alias'],
    ["model", "main\nmain\n", "2:1 line repeats line 1"],
    ["window", "007\n", '1:1 window "007" has a leading zero'],
    ["window", "0\n", '1:1 window "0" is not between 1 and 4294967295'],
    ["window", "4294967296\n", '1:1 window "4294967296" is not between 1 and 4294967295'],
    ["window", "Auto\n", '1:1 window "Auto" is not a decimal number'],
    ["window", "auto\nauto\n", "2:1 only one line is allowed"],
    ["tools", "fs.read\nfs.read\n", "2:1 line repeats line 1"],
    ["tools", "tsh\n", '1:1 tool "tsh" is always there and may not be listed'],
    ["tools", "fs.read\n\n", "2:1 line is blank"],
    ["tools", "fs.read \n", "1:8 value ends with a space"],
    ["tools", "fs/read\n", '1:3 tool name "fs/read" is not valid'],
    ["abi", "sdk-envelope-v2\n", '1:1 abi "sdk-envelope-v2" is not one of sdk-envelope-v1'],
    ["approval", "maybe\n", '1:1 approval "maybe" is not one of auto, ask'],
    ["system.md", "a\n\0", "2:1 character U+0000 is not allowed"],
    [
      "status",
      "sleeping\n",
      '1:1 status "sleeping" is not one of start, ready, busy, idle, stopping, dead',
    ],
    ["pid", "0\n", '1:1 pid "0" is not between 1 and 4194304'],
    ["log", '{"a":1}\n[]\n', "2:1 JSON value is not an object"],
    ["log", '{"a":1}\n{"b"\n', '2:5 ":" is expected after the member name'],
    ["meta.json", '{"a":\n  nul}', '2:3 "n" does not start a JSON value'],
  ])("%s %j", (name, text, refusal) => {
    expect(parse(name, text)).toBe(refusal);
  });

  test("a control past its bound with EMSGSIZE", () => {
    const parsed = parseAgentControl("system.md", "x".repeat(256 * 1024 + 1));
    expect(parsed).toMatchObject({ ok: false, code: "EMSGSIZE" });
    expect(parseAgentControl("system.md", "x".repeat(256 * 1024)).ok).toBe(true);
  });
});

describe("the table of agent controls", () => {
  test("holds every control of the specification and no other", () => {
    expect(controlNames("agent")).toEqual([
      ...["owner", "uid", "gid", "groups", "perm", "label", "iso", "parent", "life", "root"],
      ...["cwd", "env", "path", "mount", "model", "window", "policy", "tools", "abi", "approval"],
      ...["system.md", "prompt.template.md", "status", "pid", "log", "meta.json"],
    ]);
  });

  test("says what may be absent, what that means, and what the runtime owns", () => {
    const names = controlNames("agent") as AgentControlName[];
    const required = names.filter((name) => agentControls[name].required);
    expect(required).toEqual([
      "owner",
      "perm",
      "label",
      "path",
      "model",
      "window",
      "policy",
      "abi",
    ]);
    expect(names.filter((name) => isRuntimeOwned("agent", name))).toEqual([
      ...(["status", "pid", "log", "meta.json"] as const),
    ]);
    const absent = Object.fromEntries(names.map((name) => [name, agentControls[name].absent]));
    expect(absent).toMatchObject({
      groups: [],
      iso: "userns",
      life: "owned",
      root: "/",
      cwd: "/workspace",
      env: new Map(),
      mount: [],
      tools: [],
      approval: "auto",
    });
  });

  test("has no tool and no shared control, and says where to go instead", () => {
    expect(validateControl("agent", "tool", "x\n")).toMatchObject({
      ok: false,
      code: "EINVAL",
      reason: 'agent has no control "tool", tools are granted by policy and listed in tools',
    });
    expect(validateControl("agent", "shared", "")).toMatchObject({ ok: false });
    expect(validateControl("agent", "constructor", "")).toMatchObject({ ok: false });
  });
});
