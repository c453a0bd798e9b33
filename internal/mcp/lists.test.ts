import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { hostileServer, python } from "../testkit/mod.ts";
import { closeAll, never, openProgram, refusal } from "./fixture.ts";
import { pagesMax, toolsMax } from "./mod.ts";

setDefaultTimeout(120_000);
afterEach(closeAll);
if (python === undefined) console.log("SKIP internal/mcp: there is no /usr/bin/python3");
const here = test.skipIf(!python);

const open = (script: string, ...args: string[]) =>
  openProgram(hostileServer(script, args), { label: script });

here("a server says what it is and which tools it has", async () => {
  const server = await open("plain");
  const { name, version, protocolVersion } = server;
  expect({ name, version, protocolVersion }).toEqual({
    name: "hostile",
    version: "1.0.0",
    protocolVersion: "2025-11-25",
  });
  expect(await server.listTools(never)).toEqual([
    { name: "echo", description: "Tool echo", inputSchema: { type: "object" }, annotations: {} },
    { name: "add", description: "Tool add", inputSchema: { type: "object" }, annotations: {} },
  ]);
});

const read: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ["pages", ["3"], ["p0_a", "p0_b", "p1_a", "p1_b", "p2_a", "p2_b"]],
  ["pages-with-a-null-cursor", [], ["echo", "add"]],
  ["same-name-on-two-pages", [], ["echo", "echo"]],
  ["tools-that-are-none", [], ["first", "", "", "", "", "last"]],
  ["noise", [], ["echo", "add"]],
  ["batch", [], ["echo", "add"]],
  ["carriage-returns", [], ["echo", "add"]],
  ["half-lines", [], ["echo"]],
  ["two-in-one-write", [], ["echo", "add"]],
  ["unsolicited-replies", [], ["echo", "add"]],
  ["duplicate-replies", [], ["echo", "add"]],
  ["notifications-flood", ["20000"], ["echo", "add"]],
  ["notifications-unknown", [], ["echo", "add"]],
  ["stderr-flood", ["20"], ["echo", "add"]],
  ["handshake", ["no-tools"], ["echo", "add"]],
  ["ids-of-another-type", ["text", "list"], ["echo", "add"]],
];

for (const [script, args, names] of read) {
  here(`${script} ${args.join(" ")} is read`, async () => {
    const server = await open(script, ...args);
    expect((await server.listTools(never)).map((tool) => tool.name)).toEqual([...names]);
  });
}

const cannot = (script: string, reason: string) =>
  `EINVAL: the tools of MCP server "${script}" cannot be read: ${reason}`;

const refused: readonly (readonly [string, readonly string[], string])[] = [
  ["endless-cursor", [], cannot("endless-cursor", `there are more than ${pagesMax} pages`)],
  [
    "endless-cursor-of-empty-pages",
    [],
    cannot("endless-cursor-of-empty-pages", `there are more than ${pagesMax} pages`),
  ],
  [
    "endless-cursor-of-long-cursors",
    [],
    'EMSGSIZE: the tools of MCP server "endless-cursor-of-long-cursors" take more than 67108864 bytes',
  ],
  ["repeated-cursor", [], cannot("repeated-cursor", 'cursor "1" comes again')],
  ["same-cursor", [], cannot("same-cursor", 'cursor "1" comes again')],
  ["pages-with-an-empty-cursor", [], cannot("pages-with-an-empty-cursor", 'cursor "" comes again')],
  [
    "pages-with-a-number-as-cursor",
    [],
    cannot("pages-with-a-number-as-cursor", "a cursor is no text"),
  ],
  ["pages-without-tools", [], cannot("pages-without-tools", '"tools" is no list')],
  ["many-tools", ["10001"], cannot("many-tools", `there are more than ${toolsMax}`)],
  ["exit", ["list"], 'EHOSTDOWN: MCP server "exit" ended with status 3'],
  ["killed", ["list"], 'EHOSTDOWN: MCP server "killed" was ended by SIGKILL'],
  [
    "exit-after-half-a-line",
    ["list"],
    'EHOSTDOWN: MCP server "exit-after-half-a-line" ended with status 0',
  ],
  ["closes-stdout", ["list"], 'EHOSTDOWN: MCP server "closes-stdout" closed its output'],
  [
    "no-newline",
    ["100"],
    'EMSGSIZE: MCP server "no-newline": it wrote a line longer than 16777216 bytes',
  ],
  [
    "error",
    ["list"],
    'EIO: tools/list of MCP server "error" failed: list is not for you\u001b[31m',
  ],
];

for (const [script, args, message] of refused) {
  here(`${script} ${args.join(" ")} is refused`, async () => {
    const server = await open(script, ...args);
    expect(await refusal(server.listTools(never))).toBe(message);
  });
}

here("as many tools as the bound are read", async () => {
  const server = await open("many-tools", String(toolsMax));
  expect(await server.listTools(never)).toHaveLength(toolsMax);
});

here(
  "a server that has nothing to say about a list is waited for as long as a page may take",
  async () => {
    for (const script of [
      "silence",
      "notifications-for-ever",
      "noise-for-ever",
      "two-on-one-line",
    ]) {
      const argv = hostileServer(script, script === "silence" ? ["list"] : []);
      const server = await openProgram(argv, { label: "s", pageMs: 300 });
      expect(await refusal(server.listTools(never))).toMatch(
        /^ETIMEDOUT: tools\/list of MCP server "s" (?:neither answered nor progressed|did not answer) within 300 ms$/,
      );
      await server.close();
    }
  },
);

here("tools are read once, and again after the server said that they have changed", async () => {
  const plain = await open("plain");
  expect(await plain.listTools(never)).toBe(await plain.listTools(never));
  const changed = await open("list-changed-before-the-answer");
  const first = await changed.listTools(never);
  expect(await changed.listTools(never)).not.toBe(first);
});

here("a cancelled list is asked anew at the next use", async () => {
  const server = await open("plain");
  expect(await refusal(server.listTools(AbortSignal.abort()))).toBe(
    'ECANCELED: tools/list of MCP server "plain" was cancelled',
  );
  expect(await server.listTools(never)).toHaveLength(2);
});
