import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hostileServer, python } from "../../internal/testkit/mod.ts";
import { Stage } from "../../testdata/cli/mcp-stage.ts";

setDefaultTimeout(120_000);
const stage = new Stage();
const { place } = stage;
afterAll(() => place.remove());
if (python === undefined) console.log("SKIP cmd/ctxmcp: there is no /usr/bin/python3");
const here = test.skipIf(!python);

const server = (script: string, args: readonly string[] = [], entry: object = {}) =>
  stage.server(hostileServer(script, args), entry);

const ctxmcp = stage.run.bind(stage);

const out = () => stage.folder();

describe("list", () => {
  here("shows the tools, and with --json what the server says about them", async () => {
    const named = server("plain");
    expect(await ctxmcp(["list", ...named])).toEqual({
      exit: 0,
      out: 'echo  Tool echo\nadd   Tool add\n2 tools of server "s" (hostile 1.0.0, MCP 2025-11-25)\n',
      err: "",
    });
    const { out: json } = await ctxmcp(["list", ...named, "--json"]);
    expect(JSON.parse(json)).toEqual({
      server: { name: "hostile", version: "1.0.0", protocol: "2025-11-25" },
      skipped_lines: 0,
      tools: ["echo", "add"].map((name) => ({
        name,
        description: `Tool ${name}`,
        inputSchema: { type: "object" },
        annotations: {},
      })),
    });
  });

  here("says why it fails, with the last that the server wrote to standard error", async () => {
    const { exit, err } = await ctxmcp(["list", ...server("exit", ["list"])]);
    expect([exit, err.split("\n").at(-2)]).toEqual([
      69,
      'ctxmcp: MCP server "s" ended with status 3 [EHOSTDOWN]',
    ]);
    expect(err).toStartWith("server: ");
  });

  here("shows names and descriptions that steer no terminal", async () => {
    for (const script of ["illegal-names", "descriptions", "handshake"]) {
      const named = server(script, script === "handshake" ? ["no-tools"] : []);
      const { out: text } = await ctxmcp(["list", ...named]);
      expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u202e]/u);
      expect(text.length).toBeGreaterThan(20);
    }
  });
});

describe("the configuration", () => {
  const said = async (...argv: string[]) => {
    const { exit, err } = await ctxmcp(argv);
    return [exit, err];
  };

  test("is named when it is not there, no JSON, or has no such server", async () => {
    const missing = join(place.work, "missing.json");
    expect(await said("list", "--config", missing)).toEqual([
      1,
      `ctxmcp: cannot read "${missing}": it does not exist [ENOENT]\n`,
    ]);
    const broken = join(place.work, "broken.json");
    writeFileSync(broken, '{\n  "mcpServers": {,}\n}\n');
    expect(await said("list", "--config", broken)).toEqual([
      2,
      `ctxmcp: ${broken}:2:18: a member name in double quotes is expected [EINVAL]\n`,
    ]);
    writeFileSync(broken, '{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}');
    expect(await said("list", "--config", broken, "--server", "c")).toEqual([
      1,
      `ctxmcp: no server "c" in "${broken}" [ENOENT]\n  hint: it has "a", "b"\n`,
    ]);
    expect(await said("list", "--config", broken)).toEqual([
      2,
      `ctxmcp: --server is missing [EINVAL]\n  hint: "${broken}" has "a", "b"\n`,
    ]);
    expect(await said("list")).toEqual([
      2,
      "ctxmcp: --config is missing [EINVAL]\n  hint: add --config FILE\n",
    ]);
  });

  here(
    "takes variables from the person's environment, and the server gets little else",
    async () => {
      const named = server("surroundings", [], { env: { TOKEN: "${MY_TOKEN}", D: "${D:-d}" } });
      const unset = await ctxmcp(["call", ...named, "echo"]);
      expect(unset.exit).toBe(2);
      expect(unset.err).toContain(
        `server "s" of "${named[1]}": env.TOKEN needs the variable MY_TOKEN, which is not set`,
      );
      const env = { MY_TOKEN: "t", OTHER_SECRET: "x", LANG: "C", TMPDIR: "/tmp" };
      const { out: text } = await ctxmcp(["call", ...named, "echo"], env);
      const seen = JSON.parse(text);
      const { LC_CTYPE: _python, ...environment } = seen.env ?? seen.environment;
      const { PATH, HOME } = place.env;
      expect(environment).toEqual({ PATH, HOME, TOKEN: "t", D: "d", LANG: "C", TMPDIR: "/tmp" });
    },
  );
});

describe("call", () => {
  here("prints the result, as JSON with --json, and ends with 1 when the tool failed", async () => {
    const echo = ["call", ...server("plain"), "echo", '{"b": 1}'];
    expect(await ctxmcp(echo)).toEqual({ exit: 0, out: '{"b": 1}\n', err: "" });
    const { out: json } = await ctxmcp([...echo, "--json"]);
    expect(JSON.parse(json)).toEqual({
      content: [{ type: "text", text: '{"b": 1}' }],
      isError: false,
    });
    const failed = await ctxmcp(["call", ...server("result", ["is-error"]), "echo"]);
    expect([failed.exit, failed.out]).toEqual([1, "it failed\n"]);
  });

  here("reads arguments from standard input, and refuses what is no object", async () => {
    const named = server("plain");
    const piped = await place.run(["ctxmcp", "call", ...named, "echo", "-"], { input: '{"a":2}' });
    expect(piped.out).toBe('{"a": 2}\n');
    for (const text of ["{", "[]", "1", "null"]) {
      expect((await ctxmcp(["call", ...named, "echo", text])).exit).toBe(2);
    }
    const unknown = await ctxmcp(["call", ...named, "no-such"]);
    expect([unknown.exit, unknown.err]).toEqual([
      1,
      'ctxmcp: the server has no tool "no-such" [ENOENT]\n  hint: see its tools with ctxmcp list\n',
    ]);
  });

  here("checks the arguments by the tool's schema before anything is called", async () => {
    const { exit, err } = await ctxmcp([
      "call",
      ...server("schema", ["draft-07"]),
      "echo",
      '{"n": "one"}',
    ]);
    expect(exit).toBe(2);
    expect(err).toContain('the arguments do not fit the schema of tool "echo": /n must be ');
  });

  here("keeps bytes where it is told, under names of its own", async () => {
    const folder = out();
    const named = server("result", ["image-odd-type"]);
    const { out: text } = await ctxmcp(["call", ...named, "echo", "--keep", folder]);
    expect(text).toContain(`70 bytes: ${folder}/000.bin]`);
    expect(readdirSync(folder)).toEqual(["000.bin"]);
    expect(statSync(join(folder, "000.bin")).size).toBe(70);
  });

  here("ends with the signal that ends it, and the server with it", async () => {
    for (const [signal, exit] of [
      ["SIGTERM", 130],
      ["SIGINT", 130],
    ] as const) {
      const named = server("progress-for-ever", [], { env: { PATH: "/usr/bin" } });
      const child = place.spawn(["ctxmcp", "call", ...named, "echo"]);
      // Once there is progress the call is under way.
      for await (const chunk of child.stderr) {
        if (new TextDecoder().decode(chunk).includes("progress")) break;
      }
      child.kill(signal);
      expect(await child.exited).toBe(exit);
    }
  });
});

test.each([
  [["nope"], 2],
  [[], 2],
  [["list", "--nope"], 2],
  [["list", "x"], 2],
  [["list", "--help"], 0],
  [["call", "--help"], 0],
  [["project", "--help"], 0],
  [["--help"], 0],
])("%j ends with %d", async (argv, exit) => {
  const done = await ctxmcp(argv);
  expect(done.exit).toBe(exit);
  if (exit === 0) expect(done.out).toContain("Example");
});
