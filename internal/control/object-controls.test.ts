import { describe, expect, test } from "bun:test";
import {
  type ControlClass,
  controlNames,
  decodeControl,
  isRuntimeOwned,
  validateControl,
} from "./mod.ts";

const check = (kind: ControlClass, name: string, text: string): unknown => {
  const parsed = validateControl(kind, name, text);
  return parsed.ok ? parsed.value : `${parsed.line}:${parsed.column} ${parsed.reason}`;
};

const mcp = "transport=stdio\nconfig=/workspace/.mcp.json\nserver=github\ntool=search issues\n";

describe("tool controls", () => {
  test.each<[string, string, unknown]>([
    ["name", "fs.read\n", "fs.read"],
    ["description", "Reads a file.\nTakes a range.\n", "Reads a file.\nTakes a range.\n"],
    [
      "schema",
      '{"type":"object","x":[1,-2.5e3,"\\u00e9",true,null,{}]}\n',
      {
        type: "object",
        x: [1, -2500, "é", true, null, {}],
      },
    ],
    ["cap", "read\nnetwork\n", ["read", "network"]],
    ["program", '{"type":"object"}', { type: "object" }],
    ["policy", "", []],
    ["config", "", { maxLoadedTools: 64, cacheCapacity: 32, windowPercent: 1 }],
    [
      "config",
      "# bounds\n\nmax_loaded_tools=8\nwindow_percent=100\n",
      { maxLoadedTools: 8, cacheCapacity: 32, windowPercent: 100 },
    ],
    [
      "mcp",
      mcp,
      {
        transport: "stdio",
        config: "/workspace/.mcp.json",
        server: "github",
        tool: "search issues",
      },
    ],
    ["status", "ready\n", "ready"],
  ])("accept %s %j", (name, text, value) => {
    expect(check("tool", name, text)).toEqual(value);
  });

  test.each<[string, string, string]>([
    ["name", "a.sock\n", '1:1 tool name "a.sock" is not valid'],
    ["description", " \n", "1:1 description is empty"],
    ["schema", "", "1:1 JSON value is missing or cut short"],
    ["schema", "true", "1:1 JSON value is not an object"],
    ["schema", "\n  []", "2:3 JSON value is not an object"],
    ["schema", '{"a":1,}', "1:8 a member name in double quotes is expected"],
    ["schema", "{'a':1}", "1:2 a member name in double quotes is expected"],
    ["schema", '{"a":01}', '1:7 "," or "}" is expected'],
    ["schema", '{"a":"b\nc"}', "1:8 string holds a raw control character or a wrong escape"],
    ["schema", '{"a":"\\x"}', "1:7 string holds a raw control character or a wrong escape"],
    ["schema", '{"a":"b', "1:6 string is not closed"],
    ["schema", '{"a":1}\n{}', "2:1 text follows the JSON value"],
    ["schema", '{"a":1,\n "a":2}', '2:2 member "a" is repeated'],
    ["schema", `${'{"a":'.repeat(70)}`, "1:326 JSON nests deeper than 64"],
    ["cap", "read write\n", '1:1 cap "read write" is not one of read, write, exec, network'],
    ["program", "[]", "1:1 JSON value is not an object"],
    ["config", "max_loaded_tools=0\n", '1:18 max_loaded_tools "0" is not between 1 and 4294967295'],
    ["config", "window_percent=101\n", '1:16 window_percent "101" is not between 1 and 100'],
    ["config", "window_percent=\n", '1:16 window_percent "" is not between 1 and 100'],
    [
      "config",
      "PATH=/bin\n",
      '1:1 key "PATH" is not one of max_loaded_tools, cache_capacity, window_percent',
    ],
    ["mcp", "transport=stdio\n", '2:1 key "config" is missing'],
    ["mcp", mcp.replace("stdio", "http"), '1:11 transport "http" is not "stdio"'],
    ["mcp", mcp.replace("/workspace", "."), '2:8 path "./.mcp.json" is not absolute'],
    ["mcp", `${mcp}tool=x\n`, '5:1 key "tool" is set on line 4 already'],
    ["mcp", `${mcp}key=x\n`, '5:1 key "key" is not one of transport, config, server, tool'],
    ["hooks", "", '1:1 tool has no control "hooks"'],
  ])("refuse %s %j", (name, text, refusal) => {
    expect(check("tool", name, text)).toBe(refusal);
  });
});

describe("model controls", () => {
  test.each<[string, string, unknown]>([
    ["id", "meta-llama/Llama-3:8b\n", "meta-llama/Llama-3:8b"],
    ["driver", "openai.chat\n", "openai.chat"],
    ["cap", "chat\nstream\n", ["chat", "stream"]],
    ["effort", "xhigh\n", "xhigh"],
    ["default", '{"temperature":0.2}\n', { temperature: 0.2 }],
    ["fallback", "debug/echo\n", [{ provider: "debug", model: "echo" }]],
    ["limit", "unknown\n", "unknown"],
    ["limit", "200000\n", 200000],
  ])("accept %s %j", (name, text, value) => {
    expect(check("model", name, text)).toEqual(value);
  });

  test.each<[string, string, string]>([
    ["id", "a b\n", "1:2 model id holds a space"],
    ["driver", "openai/chat\n", '1:7 driver name "openai/chat" is not valid'],
    ["effort", "max\n", '1:1 effort "max" is not one of auto, low, medium, high, xhigh'],
    ["fallback", "main\n", '1:1 fallback "main" is not provider/model'],
    ["limit", "0\n", '1:1 limit "0" is not between 1 and 4294967295'],
    ["limit", "8k\n", '1:2 limit "8k" is not a decimal number'],
  ])("refuse %s %j", (name, text, refusal) => {
    expect(check("model", name, text)).toBe(refusal);
  });

  test("limit, status and log belong to the runtime, as status and log of a tool do", () => {
    const owned = (kind: ControlClass) =>
      controlNames(kind).filter((name) => isRuntimeOwned(kind, name));
    expect(owned("model")).toEqual(["limit", "status", "log"]);
    expect(owned("tool")).toEqual(["status", "log"]);
  });
});

describe("decodeControl()", () => {
  const bytes = (...parts: (string | number[])[]) =>
    new Uint8Array(
      parts.flatMap((part) => (typeof part === "string" ? [...Buffer.from(part)] : part)),
    );

  test("keeps every valid character, a byte order mark too", () => {
    expect(decodeControl(bytes("\ufeffä\ufffd😀\n"))).toEqual({
      ok: true,
      value: "\ufeffä\ufffd😀\n",
    });
  });

  test("names the line and column of the first wrong byte", () => {
    const place = { ok: false, code: "EINVAL", reason: "text is not valid UTF-8" };
    expect(decodeControl(bytes([0xff]))).toMatchObject({ ...place, line: 1, column: 1 });
    const second = bytes("ok\nä😀\ufffd", [0xc3, 0x28], "\n");
    expect(decodeControl(second)).toMatchObject({ ...place, line: 2, column: 5 });
  });

  test("refuses one byte past the bound before it decodes", () => {
    expect(decodeControl(new Uint8Array(256 * 1024).fill(0x61)).ok).toBe(true);
    const over = decodeControl(new Uint8Array(256 * 1024 + 1).fill(0xff));
    expect(over).toMatchObject({ ok: false, code: "EMSGSIZE" });
  });
});
