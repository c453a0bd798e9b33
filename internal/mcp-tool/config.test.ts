import { describe, expect, test } from "bun:test";
import { CodedError } from "../abi/mod.ts";
import { configBytesMax, parseMcpConfig, serverEntry, serversMax } from "./mod.ts";

const file = "/w/.mcp.json";

function thrown(run: () => unknown): CodedError {
  try {
    run();
  } catch (error) {
    if (error instanceof CodedError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

/** What is said about server "s" whose entry is this text. */
function said(entry: string): string {
  const text = `{"mcpServers": {\n  "s": ${entry}\n}}`;
  const servers = parseMcpConfig(text, file);
  const error = thrown(() => serverEntry(servers, "s", file));
  expect(error.code).toBe("EINVAL");
  const { line, column } = error.place ?? { line: 0, column: 0 };
  expect(error.message).toStartWith(`${file}:${line}:${column}: server "s": `);
  return `${line}:${column} ${error.message.slice(error.message.indexOf('"s": ') + 5)}`;
}

test("an entry is read as it stands, templates and all", () => {
  const text = `{"mcpServers": {"a": {"command": "npx", "args": ["-y", "\${PKG:-x}"],
    "env": {"T": "\${T}", "__proto__": "p"}, "cwd": "\${HOME}/w", "disabled": false, "timeout": 3},
    "b": {"type": "stdio", "command": "/bin/b"}, "__proto__": {"command": "c"}}}`;
  const servers = parseMcpConfig(text, file);
  expect([...servers.keys()]).toEqual(["a", "b", "__proto__"]);
  const entry = serverEntry(servers, "a", file);
  expect({ ...entry, env: Object.entries(entry.env) }).toEqual({
    command: "npx",
    args: ["-y", "${PKG:-x}"],
    env: [
      ["T", "${T}"],
      ["__proto__", "p"],
    ],
    cwd: "${HOME}/w",
  } as never);
  expect(serverEntry(servers, "b", file)).toEqual({ command: "/bin/b", args: [], env: {} });
  expect(serverEntry(servers, "__proto__", file).command).toBe("c");
});

test("a server that is not there is refused with the names of those that are", () => {
  const servers = parseMcpConfig(
    `{"mcpServers": {"b": {"command": "b"}, "a": {"url": "u"}}}`,
    file,
  );
  for (const name of ["c", "toString", "__proto__"]) {
    const error = thrown(() => serverEntry(servers, name, file));
    expect([error.code, error.message, error.hint]).toEqual([
      "ENOENT",
      `no server "${name}" in "${file}"`,
      'it has "a", "b"',
    ]);
  }
});

describe("what is wrong with one server is said when it is asked for", () => {
  test.each([
    ["[]", "2:8 entry is not an object"],
    ["{}", "2:8 command is missing"],
    ['{"command": ""}', "2:20 command is empty"],
    ['{"command": 1}', "2:20 command is not a text"],
    ['{"command": "a\\u0000"}', "2:20 command holds a NUL character"],
    [
      '{"command": "./run"}',
      '2:20 command "./run" is relative: use an absolute path or a bare name',
    ],
    ['{"command": "a", "args": "x"}', "2:33 args is not a list"],
    ['{"command": "a", "args": ["x", 1]}', "2:39 args[1] is not a text"],
    ['{"command": "a", "env": []}', "2:32 env is not an object"],
    ['{"command": "a",\n "env": {"K": "v", "A": true}}', "3:25 env.A is not a text"],
    ['{"command": "a", "env": {"A=B": "c"}}', '2:40 "A=B" is no name of a variable'],
    ['{"command": "a", "cwd": "rel"}', '2:32 cwd "rel" is not an absolute path'],
    ['{"url": "http://x"}', "2:16 url is not supported: only stdio servers are"],
    [
      '{"type": "http", "url": "u"}',
      '2:17 transport "http" is not supported: only stdio servers are',
    ],
    [
      '{"type": "streamable-http"}',
      '2:17 transport "streamable-http" is not supported: only stdio servers are',
    ],
    ['{"transport": "sse"}', '2:22 transport "sse" is not supported: only stdio servers are'],
    [
      '{"type": "pigeon", "command": "a"}',
      '2:17 transport "pigeon" is unknown: only stdio servers are supported',
    ],
    [
      '{"command": "a", "args": ["${env:X}"]}',
      '2:34 args[0]: "${env:X}" is not ${VAR} or ${VAR:-default}',
    ],
    ['{"command": "a", "args": ["${X"]}', '2:34 args[0]: a "${" is not closed'],
  ])("%s", (entry, message) => {
    expect(said(entry)).toBe(message);
  });
});

describe("what is wrong with the file is said at once, with line and column", () => {
  test.each([
    ["", 1, 1, "JSON value is missing or cut short"],
    [
      '{"mcpServers": {\n  "a": {"command": "x",}\n}}',
      2,
      24,
      "a member name in double quotes is expected",
    ],
    ["[]", 1, 1, "JSON value is not an object"],
    ['{"servers": {}}', 1, 1, 'member "mcpServers" is missing'],
    ['{\n "mcpServers": []}', 2, 16, '"mcpServers" is not an object'],
    ['{"mcpServers": {"a": {}, "a": {}}}', 1, 26, 'member "a" is repeated'],
    ["// c\n{}", 1, 1, '"/" does not start a JSON value'],
  ])("%j", (text, line, column, reason) => {
    const error = thrown(() => parseMcpConfig(text, file));
    expect([error.code, error.message]).toEqual(["EINVAL", `${file}:${line}:${column}: ${reason}`]);
    expect(error.place).toEqual({ file, line, column });
  });
});

test("a byte order mark is no obstacle", () => {
  expect(parseMcpConfig('\ufeff{"mcpServers": {"a": {"command": "x"}}}', file).size).toBe(1);
});

test("a file of the bound is read and one byte more is not", () => {
  const text = '{"mcpServers": {}}';
  const full = text + " ".repeat(configBytesMax - text.length);
  expect(parseMcpConfig(full, file).size).toBe(0);
  expect(thrown(() => parseMcpConfig(`${full} `, file)).code).toBe("EMSGSIZE");
  expect(thrown(() => parseMcpConfig(`${full.slice(0, -2)}é `, file)).code).toBe("EMSGSIZE");
});

test("as many servers as the bound are read and one more is not", () => {
  const of = (count: number) =>
    JSON.stringify({
      mcpServers: Object.fromEntries(
        Array.from({ length: count }, (_, n) => [`s${n}`, { command: "x" }]),
      ),
    });
  expect(parseMcpConfig(of(serversMax), file).size).toBe(serversMax);
  expect(thrown(() => parseMcpConfig(of(serversMax + 1), file)).message).toContain("257 servers");
});
