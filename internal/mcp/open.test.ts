import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { hostileServer, python } from "../testkit/mod.ts";
import { closeAll, never, openProgram, refusal } from "./fixture.ts";

setDefaultTimeout(60_000);
afterEach(closeAll);
const here = test.skipIf(!python);

const opened = (script: string, args: readonly string[] = [], startMs = 20_000) =>
  refusal(openProgram(hostileServer(script, args), { label: "s", startMs }));

for (const version of ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]) {
  here(`version ${version} is spoken`, async () => {
    const server = await openProgram(hostileServer("version", [version]));
    expect(server.protocolVersion).toBe(version);
  });
}

for (const [version, spoken] of [
  ["2024-10-07", '"2024-10-07"'],
  ["2026-06-30", '"2026-06-30"'],
  ["DRAFT-2026-v1", '"DRAFT-2026-v1"'],
  ["empty", '""'],
  ["missing", "no version"],
  ["number", "no version"],
  ["list", "no version"],
] as const) {
  here(`version ${version} is refused with both versions and what the server offers`, async () => {
    expect(await opened("version", [version])).toBe(
      `EINVAL: MCP server "s" speaks ${spoken} ("hostile 1.0.0", offers tools), ` +
        "and 2025-11-25 was announced",
    );
  });
}

describe("a server that does not come up is gone and said why", () => {
  here("silence", async () => {
    expect(await opened("silence", ["initialize"], 300)).toBe(
      'ETIMEDOUT: MCP server "s" did not say what it is within 300 ms',
    );
  });
  here("an end", async () => {
    expect(await opened("exit", ["start", "7"])).toBe(
      'EHOSTDOWN: MCP server "s" ended with status 7',
    );
    expect(await opened("exit", ["initialize"])).toBe(
      'EHOSTDOWN: MCP server "s" ended with status 3',
    );
  });
  here("an error, and what is no answer", async () => {
    const not = 'EINVAL: MCP server "s" does not answer "initialize" as it must: ';
    expect(await opened("error", ["initialize"])).toBe(`${not}initialize is not for you\u001b[31m`);
    expect(await opened("handshake", ["not-object"])).toBe(
      `${not}the result in its reply is no object`,
    );
    expect(await opened("handshake", ["no-info"])).toStartWith(`${not}serverInfo: `);
  });
  test("a program that is not there, or is none", async () => {
    expect(await refusal(openProgram(["no-such-program"]))).toBe(
      'ENOENT: cannot start MCP server "no-such-program": no program "no-such-program" in PATH',
    );
    expect(await refusal(openProgram(["/no/such"], { label: "s" }))).toStartWith(
      'ENOENT: cannot start MCP server "s": "/no/such"',
    );
    expect(await refusal(openProgram(["/etc/passwd"], { label: "s" }))).toStartWith(
      'EACCES: cannot start MCP server "s": "/etc/passwd"',
    );
    expect(await refusal(openProgram(["cat"], { label: "s", cwd: "/no/such" }))).toStartWith(
      'ENOENT: cannot start MCP server "s": ',
    );
  });
  here("a signal that comes before, while it starts, and later", async () => {
    const before = openProgram(hostileServer("plain"), { signal: AbortSignal.abort() });
    expect(await refusal(before)).toStartWith("ECANCELED: ");
    const stop = new AbortController();
    const starting = openProgram(hostileServer("silence", ["initialize"]), { signal: stop.signal });
    stop.abort();
    expect(await refusal(starting)).toStartWith("ECANCELED: ");
    const later = new AbortController();
    const server = await openProgram(hostileServer("plain"), { signal: later.signal });
    later.abort();
    await server.ended;
    expect(await refusal(server.listTools(never))).toStartWith("ECANCELED: ");
  });
});

here("a server gets the environment and folder that are given and nothing else", async () => {
  const server = await openProgram(hostileServer("surroundings"), { env: { A: "1" }, cwd: "/usr" });
  const { content } = await server.callTool(
    "echo",
    {},
    { signal: never, idleMs: 9000, totalMs: 9000 },
  );
  const seen = JSON.parse((content[0] as { text: string }).text);
  // Python sets the locale for itself.
  const { LC_CTYPE: _own, ...environment } = seen.env ?? seen.environment;
  expect([environment, seen.cwd ?? seen.folder]).toEqual([{ A: "1" }, "/usr"]);
});

here("its standard error is handed on line by line, long ones cut", async () => {
  const lines: string[] = [];
  const program = [
    "python3",
    "-c",
    "import sys; sys.stderr.write('a\\n\\nb'*1 + 'x'*9000 + '\\nend')",
  ];
  const opening = openProgram(program, { label: "s", onLog: (line) => lines.push(line) });
  expect(await refusal(opening)).toBe('EHOSTDOWN: MCP server "s" ended with status 0');
  expect(lines).toEqual(["a", "", `b${"x".repeat(4095)}`, "end"]);
});
