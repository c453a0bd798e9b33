// What a file or a folder says about an agent, and where it is wrong.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { refusal, TestTree } from "../../testdata/tree/test-tree.ts";
import { frontMatterBytesMax, parseFrontMatter } from "./front-matter.ts";
import { type PlanContext, planAgent, readAgentDescription, type Tree } from "./mod.ts";

setDefaultTimeout(60_000);

const base = mkdtempSync("/tmp/cortexfs-description-");
let made: TestTree;
let tree: Tree;
let context: PlanContext;
beforeAll(() => {
  made = new TestTree();
  made.bootstrap();
  tree = made.open();
  const { owner } = made;
  context = { tree, places: { config: base, uid: owner.uid }, owner, groups: [] };
});
afterAll(() => {
  tree.close();
  made.destroy();
  rmSync(base, { recursive: true });
});

const file = join(base, "helper.md");

function plan(text: string | Uint8Array) {
  writeFileSync(file, text);
  return planAgent(context, "helper", readAgentDescription(file));
}

/** `line:column code reason` of the refusal of a file. */
function fault(text: string | Uint8Array): string {
  const { code, message, place } = refusal(() => plan(text));
  expect(place?.file).toBe(file);
  return `${place?.line}:${place?.column} ${code} ${message}`;
}

const front = (...lines: string[]) => `---\n${lines.join("\n")}\n---\nYou help.\n`;

describe("a Markdown file", () => {
  test("gives the controls that it names, and its text is system.md", () => {
    const text = front(
      "description: Helps a bit # not this",
      "model: debug/script",
      "tools: [fs.read, fs.write]",
      "perm: rw-",
      "label: user_u:agent_r:own_t:s0",
      "mount:",
      "  - /srv/data /data ro",
      '  - "/srv/with space\\t/other\\trw\\tnoexec"',
      "env:",
      "  LANG: C.UTF-8",
      "  N: 12",
      "approval: ask",
      "cwd: /data",
      "groups: [7]",
      "policy: |",
      "  # mine",
      "  allow own_t model:debug/script use",
    );
    const controls = Object.fromEntries(plan(text));
    expect(readAgentDescription(file)).toMatchObject({ name: "helper" });
    expect(readAgentDescription(file).description?.text).toBe("Helps a bit\n");
    expect(controls).toMatchObject({
      model: "debug/script\n",
      tools: "fs.read\nfs.write\n",
      perm: "rw-\n",
      label: "user_u:agent_r:own_t:s0\n",
      mount: "/srv/data\t/data\tro\t-\n/srv/with space\t/other\trw\tnoexec\n",
      env: "LANG=C.UTF-8\nN=12\n",
      approval: "ask\n",
      cwd: "/data\n",
      groups: "7\n",
      policy: "# mine\nallow own_t model:debug/script use\n",
      "system.md": "You help.\n",
      window: "auto\n",
    });
  });

  test("without front matter is the prompt alone", () => {
    const controls = plan("Just help.");
    expect(controls.get("system.md")).toBe("Just help.\n");
    expect(controls.get("perm")).toBe("r--\n");
  });

  test("lists tools as one word with commas, and as lines", () => {
    expect(plan(front("tools: fs.read, fs.stat")).get("tools")).toBe("fs.read\nfs.stat\n");
    expect(plan(front("tools:", "- fs.read", "- fs.stat")).get("tools")).toBe("fs.read\nfs.stat\n");
    expect(plan(front("tools: []")).get("tools")).toBe("");
  });
});

describe("is refused at its line and column:", () => {
  const cases: readonly (readonly [string, string | Uint8Array, string])[] = [
    ["an unknown key", front("perm: r--", "color: red"), '3:1 EINVAL key "color" is not known'],
    ["a runtime's control", front("status: idle"), '2:1 EINVAL key "status" the runtime owns it'],
    ["a key twice", front("perm: r--", "perm: rwx"), '3:1 EINVAL key "perm" is set on line 2'],
    ["a wrong letter", front("perm: rzx"), '2:8 EINVAL perm "rzx" needs'],
    ["a wrong item", front("tools:", "  - fs.read", "  - a/b"), "4:6 EINVAL tool name"],
    ["an item twice", front("tools:", "  - fs.read", "  - fs.read"), "4:5 EINVAL line repeats"],
    ["tsh in tools", front("tools: fs.read, tsh"), '2:17 EINVAL tool "tsh" is always there'],
    ["an unknown tool", front("tools: [fs.read, no.tool]"), '2:18 ENOENT tool "no.tool" does not'],
    ["an unknown model", front("model: no/model"), '2:8 ENOENT model "no/model" does not exist'],
    ["an unknown alias", front("model: nobody"), '2:8 ENOENT model alias "nobody" does not exist'],
    ["a window and no maximum", front("window: 32000"), "2:9 EINVAL window 32000 cannot be used"],
    ["a window of nothing", front("window: 0"), '2:9 EINVAL window "0" is not between'],
    [
      "a policy line",
      front("policy: |", "  # a", "  allow x y"),
      "4:12 EINVAL permission is missing",
    ],
    ["a mount", front("mount:", "  - /a b ro"), "3:8 EINVAL mount target"],
    ["a runtime variable", front("env:", "  CTX_ROOT: /x"), "3:3 EINVAL variable CTX_ROOT belongs"],
    ["a variable twice", front("env: {A: x, B: y, A: z}"), '2:1 EINVAL env: "A" is there twice'],
    ["a variable twice", front("env:", "  A: x", "  A: y"), '2:1 EINVAL env: "A" is there twice'],
    ["a number in disguise", front("env: {A: 010}"), '2:1 EINVAL env: value of "A" would be read'],
    ["nothing", front("model:"), "2:1 EINVAL model: its value is empty"],
    ["a list for a word", front("perm: [r--]"), "2:1 EINVAL perm takes one value"],
    ["a map for a list", front("tools: {a: b}"), "2:1 EINVAL tools takes a list, not a map"],
    ["a list in a list", front("tools: [[fs.read]]"), "2:1 EINVAL tools: item 1 is neither"],
    ["broken YAML", front("perm: r--", "tools: [a"), "3:1 EINVAL tools: not YAML: "],
    ["no key", front("perm: r--", "hello"), '3:1 EINVAL "hello" is not KEY: VALUE'],
    ["no end", "---\nperm: r--\n", "1:1 EINVAL front matter starts here"],
    ["CRLF", "---\r\nperm: r--\r\n---\r\n", "1:4 EINVAL carriage return"],
    ["no UTF-8", new Uint8Array([0x61, 0x0a, 0xff]), "2:1 EINVAL text is not valid UTF-8"],
    ["NUL in the text", `${front("perm: r--")}a\0`, "5:2 EINVAL character U+0000"],
    [
      "an alias of elsewhere",
      front("path: &p [/ctx/tool]", "tools: *p"),
      "3:1 EINVAL tools: not YAML",
    ],
    ["an endless list", front("tools: &a [*a]"), "2:1 EINVAL tools: item 1 is neither"],
    [
      "a description of two lines",
      front("description: |", "  a", "  b"),
      "3:4 EINVAL description is",
    ],
  ];
  for (const [what, text, expected] of cases) {
    test(what, () => expect(fault(text)).toStartWith(expected));
  }

  test("what multiplies or is too large, in bounded time", () => {
    const many = (count: number) => Array(count).fill("x").join(", ");
    expect(fault(front(`groups: [${many(1025)}]`))).toStartWith("2:1 EMSGSIZE");
    const bomb = front(`tools: [&a ${"x".repeat(20_000)}, ${Array(900).fill("*a").join(", ")}]`);
    expect(fault(bomb)).toMatch(/^2:1 E(?:MSGSIZE|INVAL) /);
    expect(fault(front(`tools: ${"[".repeat(30_000)}`))).toStartWith("2:1 EINVAL tools: not YAML");
    expect(fault(front(`# ${"x".repeat(frontMatterBytesMax)}`))).toStartWith("1:1 EMSGSIZE");
    writeFileSync(file, "x".repeat(400_000));
    expect(refusal(() => readAgentDescription(file)).code).toBe("EMSGSIZE");
  });
});

describe("a folder", () => {
  let count = 0;
  function folder(files: Record<string, string>): string {
    const path = join(base, `f${count++}.d`);
    mkdirSync(path);
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(join(path, name), text, { mode: name === "agent" ? 0o755 : 0o644 });
    }
    return path;
  }

  test("gives its control files as they are, and its program", () => {
    const path = folder({ perm: "r-x\n", "system.md": "Hi\n", agent: "#!/bin/sh\n" });
    const description = readAgentDescription(`${path}/`);
    expect([...description.controls.keys()].sort()).toEqual(["perm", "system.md"]);
    expect(description.name).toBe(path.replace(/.*\/(.*)\.d/, "$1"));
    expect(description.program?.path).toBe(`${path}/agent`);
    description.program?.close();
    expect(planAgent(context, "helper", description).get("perm")).toBe("r-x\n");
  });

  test("is refused with the file, line and column", () => {
    const fault = (files: Record<string, string>) => {
      const path = folder(files);
      const { code, message, place } = refusal(() =>
        planAgent(context, "helper", readAgentDescription(path)),
      );
      const at = place && `${place.file.replace(path, "F")}:${place.line}:${place.column}`;
      return `${at ?? ""} ${code} ${message.replace(path, "F")}`;
    };
    expect(fault({ perm: "r-x" })).toStartWith("F/perm:1:4 EINVAL last line does not end");
    expect(fault({ tools: "fs.read\nno\n" })).toStartWith("F/tools:2:1 ENOENT");
    expect(fault({ owner: "4\n" })).toStartWith('F/owner:1:1 EINVAL owner "4" is not the tree');
    expect(fault({ pid: "" })).toContain("the runtime owns pid");
    expect(fault({ tool: "x\n" })).toContain("is not a control");
    const linked = folder({});
    symlinkSync("/etc/hostname", join(linked, "system.md"));
    expect(refusal(() => readAgentDescription(linked))).toMatchObject({ code: "EACCES" });
  });
});

test("any list of words comes out of the front matter as it went in, with its places", () => {
  const word = fc.stringMatching(/^[a-z][a-z0-9._/-]{0,12}$/);
  fc.assert(
    fc.property(
      fc.uniqueArray(word, { minLength: 1, maxLength: 8 }),
      fc.boolean(),
      (words, flow) => {
        const lines = flow
          ? [`k: [${words.map((w) => JSON.stringify(w)).join(", ")}]`]
          : ["k:", ...words.map((w) => `  - "${w}"`)];
        const { entries } = parseFrontMatter(`---\n${lines.join("\n")}\n---\n`, "f");
        const items = entries[0]?.items ?? [];
        expect(items.map(({ text }) => text)).toEqual(words);
        for (const { text, place } of items) {
          expect(lines[place.line - 2]?.slice(place.column - 1)).toStartWith(text);
        }
      },
    ),
  );
});

test("any text is parsed or refused with a code and a place, never anything else", () => {
  const line = fc.oneof(
    fc.constantFrom(
      "---",
      "tools: [a",
      "env: {A: 1}",
      "- x",
      "k: &a *a",
      "k: !!x y",
      "  - z",
      "k: |",
    ),
    fc.string({ maxLength: 20 }),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
      try {
        parseFrontMatter(`---\n${lines.join("\n")}\n---\n`, "f");
      } catch (error) {
        expect(error).toMatchObject({ name: "CodedError", place: { file: "f" } });
      }
    }),
  );
});
