import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  classPermissions,
  emptyPolicy,
  formatAllow,
  isPolicyClass,
  parsePolicy,
  parsePolicyObject,
} from "./mod.ts";

function refusal(text: string): string {
  const parsed = parsePolicy(text);
  if (parsed.ok) throw new Error(`accepted: ${text}`);
  expect(parsed.code).toBe("EINVAL");
  return `${parsed.line}:${parsed.column} ${parsed.reason}`;
}

function policy(text: string) {
  const parsed = parsePolicy(text);
  if (!parsed.ok) throw new Error(`${parsed.line}:${parsed.column} ${parsed.reason}`);
  return parsed.value;
}

describe("parsePolicy() accepts", () => {
  test("every class with every permission it knows", () => {
    const names: Record<string, string> = { model: "openai/gpt-5.6", network: "default" };
    for (const [kind, permissions] of Object.entries(classPermissions)) {
      for (const permission of permissions) {
        const name = names[kind] ?? "fs.read";
        const { lines } = policy(`allow coder_t ${kind}:${name} ${permission}\n`);
        expect(lines as unknown).toEqual([
          { subject: "coder_t", object: { class: kind, name }, permission, line: 1 },
        ]);
      }
    }
  });

  test("comments, blank lines, aligned columns and an empty file", () => {
    expect(policy("").lines).toEqual([]);
    const text = "# who may read\n\n  \t\nallow  coder_t\ttool:fs.read   execute \n  # end\n";
    expect(policy(text).lines.map((line) => line.line)).toEqual([4]);
  });

  test("a repeated line, which answers with its first place", () => {
    const line = "allow coder_t tool:fs.read execute\n";
    const repeated = policy(`#\n${line}${line}`);
    expect(repeated.lines.length).toBe(2);
    expect(repeated.find("coder_t", { class: "tool", name: "fs.read" }, "execute")).toBe(2);
  });
});

describe("parsePolicy() refuses", () => {
  test.each<[string, string]>([
    [
      "deny coder_t tool:fs.read execute",
      "1:1 policy v0 has no deny, what no line allows is denied",
    ],
    ["permit x", '1:1 rule "permit" is not known, a line starts with "allow"'],
    ["ALLOW coder_t tool:a execute", '1:1 rule "ALLOW" is not known, a line starts with "allow"'],
    ["allow", "1:6 subject is missing: allow <type> <class>:<name> <permission>"],
    ["allow coder_t ", "1:14 object is missing: allow <type> <class>:<name> <permission>"],
    [
      "allow coder_t tool:a",
      "1:21 permission is missing: allow <type> <class>:<name> <permission>",
    ],
    ["allow coder_t tool:a execute priority=1", '1:30 field "priority=1" is one too many'],
    ["allow coder_t tool:a execute # why", '1:30 field "#" is one too many'],
    ["allow * tool:a execute", '1:7 subject "*" is a glob, policy v0 takes names as they are'],
    [
      "allow $agent tool:a execute",
      '1:7 subject "$agent" is a variable, policy v0 takes names as they are',
    ],
    ["allow coder tool:a execute", '1:7 subject type "coder" does not end in "_t"'],
    [
      "allow {a_t,b_t} tool:a execute",
      '1:7 subject "{a_t,b_t}" is a glob, policy v0 takes names as they are',
    ],
    ["allow coder_t fs.read execute", '1:15 object "fs.read" is not class:name'],
    [
      "allow coder_t file:a read",
      '1:15 class "file" is not one of tool, model, shared, session, mount, agent, network',
    ],
    [
      "allow coder_t constructor:a read",
      '1:15 class "constructor" is not one of tool, model, shared, session, mount, agent, network',
    ],
    [
      "allow coder_t agent:* create",
      '1:21 object "agent:*" is a glob, policy v0 takes names as they are',
    ],
    [
      "allow coder_t tool:fs.?ead execute",
      '1:23 object "tool:fs.?ead" is a glob, policy v0 takes names as they are',
    ],
    [
      "allow coder_t session:%{name} read",
      '1:23 object "session:%{name}" is a variable, policy v0 takes names as they are',
    ],
    ["allow coder_t mount:/work read", '1:21 mount "/work" is a path, policy v0 matches no paths'],
    ["allow coder_t tool: execute", "1:20 object name is missing"],
    ["allow coder_t tool:a:b execute", '1:20 tool name "a:b" is not valid'],
    ["allow coder_t tool:a.sock execute", '1:20 tool name "a.sock" is not valid'],
    ["allow coder_t model:main use", '1:21 model "main" is not provider/model'],
    ["allow coder_t model:a/b/c use", '1:21 model "a/b/c" is not provider/model'],
    ["allow coder_t network:lan connect", '1:23 network "lan" is not "default"'],
    ["allow coder_t session:index read", '1:23 session name "index" is reserved'],
    ["allow coder_t tool:a read", '1:22 permission "read" is not one that tool knows: execute'],
    [
      "allow coder_t shared:a read,write",
      '1:24 permission "read,write" is not one that shared knows: read, write',
    ],
    ["allow coder_t agent:a *", '1:23 permission "*" is a glob, policy v0 takes names as they are'],
  ])("%s", (line, expected) => {
    expect(refusal(`${line}\n`)).toBe(expected);
    const later = expected.replace(/^1:/, "3:");
    expect(refusal(`# first\n\n${line}\n`)).toBe(later);
  });

  test("a last line without its newline, because it may be the half of another", () => {
    expect(refusal("allow coder_t tool:fs.read execute")).toStartWith(
      "1:35 last line does not end",
    );
  });

  test("CRLF line ends by name", () => {
    expect(refusal("allow coder_t tool:a execute\r\n")).toStartWith("1:29 carriage return");
  });
});

describe("a policy", () => {
  const name = fc
    .stringMatching(/^[a-z][a-z0-9.+-]{0,5}$/)
    .filter((text) => !/\.(sock|d)$/.test(text));
  const rule = fc.oneof(
    name.map((text) => ({ object: { class: "tool", name: text } as const, permission: "execute" })),
    name.map((text) => ({ object: { class: "agent", name: text } as const, permission: "start" })),
    fc.tuple(name, name).map(([a, b]) => ({
      object: { class: "model", name: `${a}/${b}` } as const,
      permission: "use",
    })),
  );
  const allow = fc.tuple(
    name.map((text) => `${text}_t`),
    rule,
  );

  test("finds exactly what its lines say, each by its own line", () => {
    fc.assert(
      fc.property(fc.array(allow), allow, (lines, probe) => {
        const text = lines.map(([who, what]) => formatAllow(who, what.object, what.permission));
        const parsed = policy(text.map((line) => `${line}\n`).join(""));
        for (const [who, what] of [...lines, probe]) {
          const at = text.indexOf(formatAllow(who, what.object, what.permission));
          const found = parsed.find(who, what.object, what.permission);
          expect(found).toBe(at < 0 ? undefined : at + 1);
        }
      }),
    );
  });

  test("cannot be asked its way around with separators in a name", () => {
    const parsed = policy("allow coder_t tool:fs.read execute\n");
    const tool = (text: string) => ({ class: "tool", name: text }) as const;
    expect(parsed.find("coder_t tool:fs.read execute", tool(""), "")).toBeUndefined();
    expect(parsed.find("coder_t", tool("fs.read execute"), "")).toBeUndefined();
    expect(parsed.find("coder_t\0tool:fs.read", tool(""), "execute")).toBeUndefined();
    expect(emptyPolicy.find("coder_t", tool("fs.read"), "execute")).toBeUndefined();
  });
});

describe("a policy past the bound of a control", () => {
  test("is EMSGSIZE", () => {
    const text = "allow coder_t tool:fs.read execute\n".repeat(8_000);
    expect(parsePolicy(text)).toMatchObject({ ok: false, code: "EMSGSIZE" });
  });
});

describe("parsePolicyObject()", () => {
  test("reads what commands are given", () => {
    expect(parsePolicyObject("model:openai/gpt-5.6")).toEqual({
      ok: true,
      value: { class: "model", name: "openai/gpt-5.6" },
    });
    expect(parsePolicyObject("tool").ok).toBe(false);
    expect(isPolicyClass("toString")).toBe(false);
  });
});
