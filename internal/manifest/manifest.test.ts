import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { CodedError } from "../abi/mod.ts";
import { isCompatible, manifestBytesMax, parseManifest } from "./mod.ts";

const sha256 = "0123456789abcdef".repeat(4);

const tool = {
  schema: "cortexfs.object/v2",
  class: "tool",
  name: "box.open",
  version: "1.2.3-rc.1+build.5",
  compatibility: { cortexfs: ">=0.1.0 <1.0.0" },
  executable: { path: "bin/box.open", sha256 },
  controls: {
    description: "Opens a box",
    schema: { type: "object", properties: { lid: { type: "string" } } },
    cap: ["read", "exec"],
    policy: "",
    mcp: { transport: "stdio", config: "/workspace/.mcp.json", server: "box", tool: "open" },
  },
};

const json = (value: unknown) => JSON.stringify(value, null, 2);

/** The code, place, field and reason of the refusal as one line. */
function refused(text: string): string {
  try {
    parseManifest(text, "m");
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    const { code, message, place } = error;
    expect(message).toStartWith(`"m" line ${place?.line}, column ${place?.column}: `);
    return `${code} ${place?.line}:${place?.column} ${message.replace(/^"m" line \d+, column \d+: /, "")}`;
  }
  return "not refused";
}

describe("parseManifest()", () => {
  test("reads a tool, every control as the text of its file", () => {
    const { place, controls, ...rest } = parseManifest(json(tool), "m");
    expect(rest).toEqual({
      file: "m",
      schema: "cortexfs.object/v2",
      class: "tool",
      name: "box.open",
      version: "1.2.3-rc.1+build.5",
      compatibility: ">=0.1.0 <1.0.0",
      executable: { path: "bin/box.open", sha256 },
    });
    expect(Object.fromEntries(controls)).toEqual({
      description: "Opens a box\n",
      schema: '{"type":"object","properties":{"lid":{"type":"string"}}}\n',
      cap: "read\nexec\n",
      policy: "",
      mcp: "transport=stdio\nconfig=/workspace/.mcp.json\nserver=box\ntool=open\n",
    });
    expect(place("executable.sha256")).toEqual({ file: "m", line: 11, column: 15 });
    expect(place("version")).toEqual({ file: "m", line: 5, column: 14 });
  });

  test("takes the texts of controls as a projection writes them", () => {
    const texts = {
      description: "Opens\na box",
      schema: '{"type":"object"}\n',
      cap: "network\n",
      policy: "# nobody yet\n",
      mcp: "transport=stdio\nconfig=/c\nserver=s\ntool=t\n",
      program: '{"a":1}',
    };
    const { controls } = parseManifest(json({ ...tool, controls: texts }), "m");
    expect(Object.fromEntries(controls)).toEqual({
      ...texts,
      description: "Opens\na box\n",
      program: '{"a":1}\n',
    });
  });

  test("reads the same from YAML", () => {
    const text = `# A box
schema: cortexfs.object/v2
class: tool
name: box.open
version: 1.2.3
compatibility: { cortexfs: "*" }
executable:
  path: box.open
  sha256: "${sha256}"
controls:
  description: Opens a box
  schema:
    type: object
  cap: [read]
  policy: |
    # nobody yet
    allow coder_t tool:box.open execute
`;
    const { controls, version, place } = parseManifest(text, "m");
    expect(version).toBe("1.2.3");
    expect([...controls]).toEqual([
      ["description", "Opens a box\n"],
      ["schema", '{"type":"object"}\n'],
      ["cap", "read\n"],
      ["policy", "# nobody yet\nallow coder_t tool:box.open execute\n"],
    ]);
    expect(place("executable.sha256")).toEqual({ file: "m", line: 9, column: 11 });
    expect(place("controls.cap")).toEqual({ file: "m", line: 14, column: 8 });
  });

  test("takes neither version nor compatibility in v1", () => {
    const { version: _, compatibility: __, ...rest } = tool;
    const v1 = { ...rest, schema: "cortexfs.object/v1" };
    const read = parseManifest(json(v1), "m");
    expect([read.schema, read.version, read.compatibility]).toEqual([v1.schema, null, null]);
    const known =
      "it is not known in cortexfs.object/v1, where schema, class, name, executable, controls may stand";
    expect(refused(json({ ...v1, version: "1.0.0" }))).toStartWith("EINVAL ");
    expect(refused(json({ ...v1, version: "1.0.0" }))).toEndWith(`field "version": ${known}`);
    expect(refused(json({ ...v1, compatibility: {} }))).toEndWith(
      `field "compatibility": ${known}`,
    );
  });

  test("reads an agent: the controls that a person writes, and no others", () => {
    const controls = {
      perm: "r--",
      label: "box_t",
      path: ["/ctx/tool"],
      model: ["main"],
      window: "auto",
      policy: [],
      abi: "sdk-envelope-v1",
      env: { LID: "open" },
      groups: [61200],
      "system.md": "You open boxes.\n",
    };
    const agent = { ...tool, class: "agent", name: "boxer", controls };
    const read = parseManifest(json(agent), "m").controls;
    expect(read.get("env")).toBe("LID=open\n");
    expect(read.get("groups")).toBe("61200\n");
    expect(read.get("model")).toBe("main\n");
    const having = (more: object) => json({ ...agent, controls: { ...controls, ...more } });
    expect(refused(having({ status: "idle" }))).toContain(
      'field "controls.status": it is not known',
    );
    expect(refused(having({ tool: "x" }))).toContain('field "controls.tool": it is not known');
    expect(refused(having({ window: undefined }))).toEndWith(
      'field "controls.window": a manifest of an agent needs it',
    );
    expect(refused(having({ perm: "rwz" }))).toContain('field "controls.perm": ');
  });

  test("names the place and the field of every fault", () => {
    const text = json(tool);
    for (const [from, to, said] of [
      [
        '"class": "tool"',
        '"class": "model"',
        '3:12 field "class": "model" is not "tool" or "agent"',
      ],
      ["object/v2", "object/v3", '2:13 field "schema": "cortexfs.object/v3" is not'],
      ['"name": "box.open"', '"name": "../x"', '4:11 field "name": "../x" is not a name'],
      ['"name": "box.open"', '"name": "x.d"', '4:11 field "name": '],
      ['"name": "box.open"', '"name": 7', '4:11 field "name": it is not a text'],
      ['  "name": "box.open",\n', "", '1:1 field "name": it is missing'],
      ["1.2.3-rc.1+build.5", "v1.2.3", '5:14 field "version": "v1.2.3" is not a SemVer'],
      ["1.2.3-rc.1+build.5", "1.2", '5:14 field "version": '],
      ["1.2.3-rc.1+build.5", "1.2.3 ", '5:14 field "version": '],
      [">=0.1.0 <1.0.0", "latest", '7:17 field "compatibility.cortexfs": "latest" is not'],
      [">=0.1.0 <1.0.0", "", '7:17 field "compatibility.cortexfs": '],
      ['"cortexfs": ', '"cortex": ', '7:5 field "compatibility.cortex": it is not known'],
      ["bin/box.open", "/bin/sh", '10:13 field "executable.path": it is not relative'],
      ["bin/box.open", "../x", '10:13 field "executable.path": it has an empty part'],
      ["bin/box.open", "a//x", '10:13 field "executable.path": '],
      ["bin/box.open", "a\\u0000", '10:13 field "executable.path": it holds a control'],
      [sha256, sha256.toUpperCase(), '11:15 field "executable.sha256": it is not 64 hex digits'],
      ['"sha256"', '"sha512"', '11:5 field "executable.sha512": it is not known'],
      ['"description": "Opens a box"', '"describe": ""', '14:5 field "controls.describe": '],
      ['"Opens a box"', '""', '14:20 field "controls.description": description is empty'],
      ['"Opens a box"', "[]", '14:20 field "controls.description": it is neither a text'],
      ['"type": "object"', '"type": "array"', '15:15 field "controls.schema": a tool'],
      ['"read"', '"reed"', '23:12 field "controls.cap": '],
      ['"exec"', '"read"', '23:12 field "controls.cap": its line 2, column 1: '],
      ['"exec"', "1.5", '23:12 field "controls.cap": item 2 is not a text'],
      ['"policy": ""', '"policy": "deny x"', '27:15 field "controls.policy": '],
      [
        '"server": "box"',
        '"server": "b\\nx"',
        '28:12 field "controls.mcp": "server" is more than one',
      ],
      [
        '"transport": "stdio"',
        '"transport": "http"',
        '28:12 field "controls.mcp": its line 1, column 11',
      ],
      ['"policy": ""', '"policy": "", "policy": ""', '27:19 member "policy" is repeated'],
      ['"policy": ""', '"policy": "", "p\\u006flicy": ""', "27:19 member "],
      ['"policy": ""', '"__proto__": {}', '27:5 field "controls.__proto__": it is not known'],
      ['  "class"', "  class", "3:3 "],
    ] as const) {
      expect(text).toContain(from);
      expect(refused(text.replace(from, to))).toStartWith(`EINVAL ${said}`);
    }
  });

  test("bounds bytes and depth, in both languages", () => {
    const deep = (open: string, close: string) => open.repeat(20_000) + close.repeat(20_000);
    expect(refused(" ".repeat(manifestBytesMax + 1))).toStartWith("EMSGSIZE 1:1 it is larger");
    expect(refused(`{"a":${deep("[", "]")}}`)).toContain("JSON nests deeper than");
    expect(refused(`a: ${deep("[", "]")}`)).toContain("it nests deeper than");
    expect(refused(`a: ${"[".repeat(20_000)}`)).toContain("it nests deeper than");
    expect(refused(`${"- ".repeat(1000)}x`)).toContain("it nests deeper than");
    expect(refused("a: 1\n".repeat(60_000))).toStartWith("EMSGSIZE 1:1 it is larger");
    expect(refused("a: 1\n".repeat(5000))).toStartWith("EINVAL 1:1 it has more than 4096 items");
  });

  test("refuses what YAML has beyond JSON", () => {
    for (const [text, said] of [
      ["a: &x 1\nb: *x\n", "2:4 an alias is not taken"],
      ["%YAML 1.1\n---\na: 1\n", "1:1 a directive is not taken"],
      ["a: 1\na: 2\n", "2:1 Map keys must be unique"],
      ["a: .nan\n", "1:4 the number is not one of JSON's"],
      ["a: [-.inf]\n", "1:5 the number is not one of JSON's"],
      ["a: !!binary aGk=\n", "1:4 Unresolved tag"],
      ["a: !mine x\n", "1:4 Unresolved tag"],
      ["[1]: x\n", "1:1 With stringKeys"],
      ["a: 1\n---\nb: 2\n", "2:1 a second document is not taken"],
      ["- a\n", "1:1 it is not a map of fields"],
      ["", "1:1 it is not a map of fields"],
      ["a: [\n", "2:1 "],
      ["\ufeff{}", "1:1 it starts with a byte order mark"],
      ["<<: { schema: x }\n", '1:1 field "schema": it is missing'],
    ] as const) {
      expect(refused(text)).toStartWith(`EINVAL ${said}`);
    }
  });

  test("answers any text with a manifest or a refusal", () => {
    const piece = fc.constantFrom(
      ..."{}[],:\"'\\ \n\t-#&*!|>%@a1",
      "schema",
      "class: tool",
      "---\n",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        expect(refused(pieces.join(""))).toMatch(/^E(?:INVAL|MSGSIZE) \d+:\d+ /);
      }),
    );
  });

  test("finds every field of a JSON manifest where JSON.parse sees it", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.json(), { maxKeys: 5 }), (extra) => {
        const members = Object.entries(extra).map(
          ([key, value]) => `${JSON.stringify(key)}: ${value}`,
        );
        const padding = `{${members.join(" , ")}}`;
        const controls = { ...tool.controls, schema: "HERE" };
        const schema = `{"type":"object","x":${padding}}`;
        const text = json({ ...tool, controls }).replace('"HERE"', () => schema);
        const { place } = parseManifest(text, "m");
        const { line, column } = place("controls.mcp");
        expect((text.split("\n")[line - 1] ?? "").slice(column - 1)).toStartWith("{");
        expect(text.split("\n")[line - 1]).toContain('"mcp": {');
      }),
    );
  });
});

describe("isCompatible()", () => {
  test("asks the range, and nothing of a manifest without one", () => {
    expect(isCompatible(null, "0.1.0")).toBe(true);
    expect(isCompatible(">=0.1.0 <1.0.0", "0.1.0")).toBe(true);
    expect(isCompatible(">=0.2.0", "0.1.0")).toBe(false);
    expect(isCompatible("^1", "0.1.0")).toBe(false);
  });
});
