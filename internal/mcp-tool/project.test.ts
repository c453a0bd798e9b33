import { expect, test } from "bun:test";
import fc from "fast-check";
import { controlBytesMax, isObjectName } from "../abi/mod.ts";
import { parseToolControl } from "../control/mod.ts";
import {
  manifestName,
  manifestText,
  objectText,
  type Projection,
  projectTools,
  type ToolDefinition,
} from "./mod.ts";

const schema = { type: "object" };

function project(tools: readonly ToolDefinition[], only?: readonly string[]): Projection {
  const runtimeConfig = "/workspace/.mcp.json";
  return projectTools({ server: "s", runtimeConfig, tools, ...(only && { only }) });
}

test("a tool becomes the controls of an object", () => {
  const inputSchema = { $schema: "http://json-schema.org/draft-07/schema#", type: "object" };
  const annotations = { readOnlyHint: true, openWorldHint: true };
  const tool = { name: "get_x", description: "Gets.\r\nX \u001b[1m", inputSchema, annotations };
  expect(project([tool])).toEqual({
    projected: [
      {
        tool: "get_x",
        object: "s.get_x",
        description: "Gets.\nX \\x1b[1m\n",
        schema: inputSchema,
        cap: ["read", "network"],
        mcp: "transport=stdio\nconfig=/workspace/.mcp.json\nserver=s\ntool=get_x\n",
        definition: `{"description":"Gets.\\r\\nX \\u001b[1m","inputSchema":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"},"name":"get_x"}`,
      },
    ],
    skipped: [],
  });
});

const name64 = "a".repeat(62);

test.each<[string, readonly unknown[], string]>([
  ["a b", [schema], 'name "s.a b" holds more than A-Z a-z 0-9 . _ + -'],
  ["é", [schema], 'name "s.é" holds more than A-Z a-z 0-9 . _ + -'],
  ["../x", [schema], 'name "s.../x" holds more than A-Z a-z 0-9 . _ + -'],
  ["x\n", [schema], 'name "s.x\\n" holds more than A-Z a-z 0-9 . _ + -'],
  ["", [schema], "it has no name"],
  ["x.manifest.json", [schema], 'name "s.x.manifest.json" ends as files beside objects do'],
  ["x.d", [schema], 'name "s.x.d" ends in .sock or .d'],
  [`${name64}a`, [schema], `name "s.${name64}a" has 65 bytes, of 64`],
  ["x", [schema, schema], "the server has 2 tools of this name"],
  ["x", [undefined], "its input schema is not an object"],
  ["x", [null], "its input schema is not an object"],
  ["x", [[]], "its input schema is not an object"],
  ["x", [{}], 'its input schema is not of "type": "object"'],
  ["x", [{ type: ["object"] }], 'its input schema is not of "type": "object"'],
  [
    "x",
    [{ type: "object", x: "é".repeat(controlBytesMax / 2) }],
    "its input schema is larger than 262144 bytes",
  ],
  [
    "x",
    [{ type: "object", x: JSON.parse("[".repeat(90) + "]".repeat(90)) }],
    "its input schema nests deeper than 64",
  ],
  [
    "x",
    [{ type: "object", x: JSON.parse("[".repeat(9000) + "]".repeat(9000)) }],
    "its input schema nests deeper than 64",
  ],
])("tool %j is skipped and named", (name, schemas, reason) => {
  const good = { name: "good", inputSchema: schema };
  const tools = schemas.map((inputSchema) => ({ name, inputSchema }));
  const { projected, skipped } = project([...tools, good]);
  expect(skipped).toEqual(tools.map(() => ({ tool: name, reason })));
  expect(projected.map((one) => one.tool)).toEqual(["good"]);
});

test("a name of 64 bytes is taken, and a description past the bound is not", () => {
  expect(project([{ name: name64, inputSchema: schema }]).projected).toHaveLength(1);
  const long = (length: number) => ({
    name: "x",
    description: "x".repeat(length),
    inputSchema: schema,
  });
  expect(project([long(controlBytesMax - 1)]).projected).toHaveLength(1);
  expect(project([long(controlBytesMax)]).skipped).toEqual([
    { tool: "x", reason: "its description is longer than 262144 bytes" },
  ]);
});

test("only what is chosen is looked at, and what is not there is said", () => {
  const tools = ["b", "a", "c d"].map((name) => ({ name, inputSchema: schema }));
  const { projected, skipped } = project(tools, ["a", "b", "z"]);
  expect(projected.map((one) => one.object)).toEqual(["s.a", "s.b"]);
  expect(skipped).toEqual([{ tool: "z", reason: "the server has no such tool" }]);
});

test("a tool without a description gets one", () => {
  const described = (more: object) =>
    project([{ name: "x", inputSchema: schema, ...more }]).projected[0]?.description;
  expect(described({})).toBe("Tool x of the MCP server s\n");
  expect(described({ title: "Title", description: " " })).toBe("Title\n");
});

test("a server's name and a configuration that no locator can hold are refused", () => {
  const input = { runtimeConfig: "/w/x", tools: [] };
  expect(() => projectTools({ ...input, server: "a/b" })).toThrow('server name "a/b" is not valid');
  for (const runtimeConfig of ["rel", "/a\nb", ""]) {
    expect(() => projectTools({ ...input, server: "s", runtimeConfig })).toThrow(
      "runtime configuration",
    );
  }
});

test("whatever a server says, what is projected are valid controls under distinct valid names", () => {
  const anything = fc.string({ unit: "binary", maxLength: 12 });
  const word = fc.stringMatching(/^[a-zA-Z0-9._+-]{0,6}$/);
  const tool = fc.record({
    name: fc.oneof(word, anything),
    description: anything,
    inputSchema: fc.oneof(
      fc.dictionary(anything, fc.jsonValue()).map((rest) => ({ ...rest, type: "object" })),
      fc.jsonValue(),
    ),
  });
  fc.assert(
    fc.property(fc.array(tool, { maxLength: 6 }), (tools) => {
      const { projected, skipped } = project(tools);
      expect(projected.length + skipped.length).toBe(tools.length);
      expect(new Set(projected.map((one) => one.object)).size).toBe(projected.length);
      for (const one of projected) {
        expect(isObjectName(one.object)).toBe(true);
        const { description, mcp } = one;
        expect(parseToolControl("description", description).ok).toBe(true);
        expect(parseToolControl("mcp", mcp)).toMatchObject({ ok: true, value: { tool: one.tool } });
        const text = JSON.stringify(one.schema);
        expect(parseToolControl("schema", text).ok).toBe(true);
        expect(parseToolControl("cap", one.cap.map((cap) => `${cap}\n`).join("")).ok).toBe(true);
      }
    }),
  );
});

test("the files of a tool are these bytes", () => {
  const [tool] = project([{ name: "x", description: "d", inputSchema: schema }]).projected;
  if (tool === undefined) throw new Error("nothing was projected");
  expect(objectText(tool.object, "ab".repeat(32))).toBe(
    `#!/ctx/bin/ctx exec\n# class: tool\n# name: s.x\n# mcp-definition: sha256:${"ab".repeat(32)}\n`,
  );
  const manifest = (serverVersion: string) =>
    JSON.parse(manifestText({ tool, serverVersion, sha256: "00" }));
  expect(manifest("1.2.3-rc.1+b")).toEqual({
    schema: "cortexfs.object/v2",
    class: "tool",
    name: "s.x",
    version: "1.2.3-rc.1+b",
    compatibility: { cortexfs: ">=0.1.0 <1.0.0" },
    executable: { path: "s.x", sha256: "00" },
    controls: {
      description: "d\n",
      schema: { type: "object" },
      cap: ["read", "write"],
      policy: "",
      mcp: "transport=stdio\nconfig=/workspace/.mcp.json\nserver=s\ntool=x\n",
    },
  });
  const large = { ...tool, schema: { ...schema, x: Array.from({ length: 90_000 }, () => 1) } };
  const text = manifestText({ tool: large, serverVersion: "", sha256: "00" });
  expect(JSON.parse(text).controls.schema).toBe(`${JSON.stringify(large.schema)}\n`);
  expect(text.length).toBeLessThan(256 * 1024);
  for (const version of ["", "1.0", "v1.0.0", "01.0.0", "1.0.0-01"]) {
    expect(manifest(version).version).toBe("0.0.0");
  }
  expect(manifestName("s.x")).toBe("s.x.manifest.json");
});
