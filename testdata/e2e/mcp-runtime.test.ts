// What runs behind a projected tool, by the compiled programs: one server for the calls of a run, in a
// sandbox of its own, and nothing of it afterwards.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { leftoversAfterGrace } from "./leftovers.ts";
import { entry, McpWorld, mcpSettings } from "./mcp-world.ts";
import { plain, Run, sh, tsh } from "./terminal-calls-world.ts";
import { PlainClient, start, stopAll, until } from "./terminal-start-world.ts";
import { isRoot } from "./world.ts";

setDefaultTimeout(60_000);

const missing = !existsSync("/usr/bin/python3");
if (missing) console.log("SKIP tools of servers: there is no /usr/bin/python3");

const world = new McpWorld();
const installed = [
  "echo",
  "count",
  "sum",
  "wrong",
  "image",
  "fail",
  "look",
  "env",
  "write",
  "slow",
];
const tools = [...installed, "die", "change"];

describe.skipIf(missing)("a server's tool", () => {
  beforeAll(async () => {
    await world.project();
    for (const tool of tools) await world.install(tool);
    for (const tool of tools) if (tool !== "echo") world.allow(`plain.${tool}`);
    await world.serve(mcpSettings);
  });

  afterAll(async () => {
    await stopAll(world);
    const left = await leftoversAfterGrace(world);
    await world.destroy();
    if (isRoot) expect(left).toEqual([]);
  });

  test("is refused until both lines are there, and again when one is gone, with its name", async () => {
    const said = async () => (await world.call("lines", ["echo", { text: "x" }]))[0];
    const explained = async () => {
      const argv = ["ctx", "policy", "explain", "coder", "tool:plain.echo", "execute"];
      return (await world.run([...argv, "--source", world.source])).stdout;
    };
    for (const file of ["agent/coder.d/policy", "tool/plain.echo.d/policy"]) {
      expect(await said()).toMatchObject({ status: "error" });
      expect(await explained()).toContain("allow coder_t tool:plain.echo execute");
      const line = "allow coder_t tool:plain.echo execute\n";
      writeFileSync(join(world.source, file), line, { flag: "a" });
    }
    expect(await said()).toEqual({ status: "ok", content: "x" });
    for (const file of ["agent/coder.d/policy", "tool/plain.echo.d/policy"]) {
      world.forbid("plain.echo", file);
      const refused = await said();
      expect(refused?.status).toBe("error");
      expect(refused?.content).toContain(file);
      writeFileSync(join(world.source, file), "allow coder_t tool:plain.echo execute\n", {
        flag: "a",
      });
    }
  });

  test("has one server for a run, and another one for the next", async () => {
    const count = ["count", {}] as const;
    const first = await world.call("runs", count, ["echo", { text: "between" }], count);
    expect(first.map(({ content }) => content.split(" ")[0])).toEqual(["1", "between", "2"]);
    const [again] = await world.call("runs", count);
    expect(again?.content).toStartWith("1 of ");
  });

  test("gives text, structure, what breaks its schema, images and failures as what they are", async () => {
    const [sum, wrong, image, fail] = await world.call(
      "kinds",
      ["sum", { a: 1, b: 2 }],
      ["wrong", {}],
      ["image", {}],
      ["fail", {}],
    );
    expect(sum).toEqual({ status: "ok", content: '{"total": 3}' });
    expect(wrong?.content).toStartWith('kept\n{"total":"many"}\n[the result does not fit');
    expect(fail).toEqual({ status: "error", content: "it failed" });
    const digest = /260 bytes: sha256-([0-9a-f]{64})\]$/.exec(image?.content ?? "")?.[1];
    const chunks = join(world.sessionFolder("kinds"), "context/swap/chunk");
    const bytes = readFileSync(join(chunks, `sha256-${digest}`));
    expect(createHash("sha256").update(bytes).digest("hex")).toBe(digest as string);
  });

  test("has its input checked before its server is started", async () => {
    const [first, second] = await world.call(
      "input",
      ["sum", { a: 1 }],
      ["sum", { a: 1, b: 2, c: 3 }],
    );
    for (const one of [first, second]) expect(one?.content).toContain("does not fit its schema");
  });

  test("sees the agent's folders, and not the socket by which the agent asks its host", async () => {
    const [file, socket, written] = await world.call(
      "view",
      ["look", { text: "/workspace/.mcp.json" }],
      ["look", { text: "/run/cortexfs" }],
      ["write", { text: "/workspace/written" }],
    );
    expect([file?.content, socket?.content, written?.content]).toEqual([
      "True False",
      "False False",
      "written",
    ]);
    expect(readFileSync(join(world.workspace, "written"), "utf8")).toBe("written\n");
  });

  test("says how far it is, and is stopped by a cancel", async () => {
    const slow = (seconds: string) => tsh("plain.slow", JSON.stringify({ text: seconds }));
    const run = new Run(world, "slow", [slow("0")]);
    expect(await run.results()).toEqual([{ status: "ok", content: "slow and done" }]);
    const told = run.client.frames.filter(({ type }) => type === "tool_delta");
    expect(told.map(({ text }) => text)).toEqual(
      [1, 2, 3].map((step) => `[progress ${step}/3] on\n`),
    );
    const cancelled = new Run(world, "slow", [slow("30")]);
    await cancelled.client.until(({ type }) => type === "tool_delta");
    await cancelled.cancel();
  });

  test("fails at once when its server dies, which is there again for the next call", async () => {
    const count = ["count", {}] as const;
    const [one, die, two] = await world.call("dies", count, ["die", {}], count);
    expect(die?.status).toBe("error");
    expect(die?.content).toContain("ended");
    expect([one, two].map((each) => each?.content.split(" ")[0])).toEqual(["1", "1"]);
    const dies = Array.from({ length: 5 }, () => ["die", {}] as const);
    const last = (await world.call("dies", ...dies)).at(-1);
    expect(last?.content).toContain("was started 3 times in this run");
  });

  test("is not called when it is described otherwise than when it was installed", async () => {
    const echo = ["echo", { text: "x" }] as const;
    const [before, , after, other] = await world.call("changes", echo, ["change", {}], echo, [
      "count",
      {},
    ]);
    expect([before?.content, other?.status]).toEqual(["x", "ok"]);
    expect(after?.status).toBe("error");
    expect(after?.content).toContain("otherwise than when it was installed");
  });

  test("is not called when its executable was replaced or never installed", async () => {
    const executable = join(world.source, "tool/plain.look");
    writeFileSync(executable, "# and more\n", { flag: "a" });
    const look = async () => (await world.call("replaced", ["look", { text: "/" }]))[0];
    expect(await look()).toMatchObject({ status: "error" });
    expect((await look())?.content).toContain("is not the one that was installed");
    rmSync(join(world.source, "tool/plain.look.d/install.json"));
    expect((await look())?.content).toContain("was not installed");
  });

  test("can be called by programs of the run, which its own schema gives options", async () => {
    const cmd = [
      "/ctx/tool/plain.echo --text shelled",
      "/ctx/tool/plain.sum --a 1 --b 2",
      `/ctx/tool/plain.sum '{"a":2,"b":2}'`,
      `/ctx/tool/plain.fail '{}'; echo $?`,
      "/ctx/tool/plain.sum --c 1; echo $?",
    ].join("\n");
    const [outcome] = await new Run(world, "programs", [sh(cmd)]).results();
    expect(outcome?.content).toStartWith(
      'shelled\n{"total": 3}\n{"total": 4}\nit failed\n1\nctx: plain.sum ',
    );
    expect(outcome?.content).toEndWith("2\n[exit 0]\n");
  });

  test("can be called by a person in the agent's terminal", async () => {
    await start(world, { mounts: [`${world.workspace}\t/workspace\trw`] });
    const person = new PlainClient(world, "attach");
    try {
      await until("the prompt", () => person.text.includes("coder:") || false);
      person.type("plain.echo --text typed-by-a-person\r");
      const answer = /\ntyped-by-a-person/;
      const said = await until("the answer", () => answer.exec(plain(person.text)) ?? false);
      expect(said.index).toBeGreaterThan(0);
    } finally {
      person.end();
    }
  });

  test("says which file, server and field is wrong", async () => {
    const file = "/workspace/.mcp.json";
    const wrong: [string, string, string[]][] = [
      ["no such server", JSON.stringify({ mcpServers: { other: entry } }), ["plain", "other"]],
      ["no JSON", '{\n  "mcpServers": {,}\n}', [`${file}:2:`]],
      ["no command", JSON.stringify({ mcpServers: { plain: {} } }), ["plain", "command"]],
      [
        "a relative command",
        JSON.stringify({ mcpServers: { plain: { command: "./server" } } }),
        ["plain", "./server"],
      ],
      [
        "a url",
        JSON.stringify({ mcpServers: { plain: { url: "https://example.invalid" } } }),
        ["plain", "stdio"],
      ],
    ];
    for (const [what, text, words] of wrong) {
      world.write(".mcp.json", text);
      const [said] = await world.call("wrong", ["count", {}]);
      expect([what, said?.status]).toEqual([what, "error"]);
      for (const word of [file, ...words]) expect(said?.content).toContain(word);
    }
    rmSync(join(world.workspace, ".mcp.json"));
    const [absent] = await world.call("wrong", ["count", {}]);
    expect(absent?.content).toContain(file);
    world.describe({ plain: entry });
  });

  test("leaves nothing when the host is killed under a call", async () => {
    const run = new Run(world, "killed", [tsh("plain.slow", JSON.stringify({ text: "30" }))]);
    await run.client.until(({ type }) => type === "tool_delta");
    await world.stop("SIGKILL");
    run.client.socket.destroy();
    await until("the server's end", () => serversOf(world).length === 0 || false);
    await world.serve(mcpSettings);
    expect((await world.call("killed", ["echo", { text: "again" }]))[0]?.content).toBe("again");
  });

  test("is called again once a person has accepted what changed", async () => {
    const args = [...entry.args, "--changed"];
    world.describe({ plain: { ...entry, args } });
    const echo = async () => (await world.call("accepted", ["echo", { text: "x" }]))[0];
    expect((await echo())?.content).toContain("otherwise than when it was installed");
    const host = JSON.parse(readFileSync(world.config, "utf8"));
    host.mcpServers.plain.args.push("--changed");
    writeFileSync(world.config, JSON.stringify(host));
    const project = ["ctxmcp", "project", "--config", world.config, "--server", "plain"];
    const into = ["--runtime-config", "/workspace/.mcp.json", "--out", world.manifests];
    const shown = await world.run([...project, ...into, "--diff"]);
    expect(shown.exit).toBe(1);
    expect(shown.stdout).toContain("Says its input, changed");
    await world.must(...project, ...into, "--force", "--only", "echo");
    await world.install("echo", "--replace");
    expect(await echo()).toEqual({ status: "ok", content: "x" });
    const receipt = readFileSync(join(world.source, "tool/plain.echo.d/install.json"), "utf8");
    expect(JSON.parse(receipt).previous).toMatch(/^[0-9a-f]{64}$/);
    world.describe({ plain: entry });
    expect((await echo())?.content).toContain("otherwise than when it was installed");
  });
});

/** Processes of this world's servers; as root of its own uid alone. */
function serversOf({ uid }: McpWorld): string[] {
  return readdirSync("/proc").filter((name) => {
    try {
      const status = readFileSync(`/proc/${name}/status`, "utf8");
      const mine = new RegExp(`^Uid:\\s+${uid}\\s`, "m").test(status);
      return mine && /plain_server|serve-tool/.test(readFileSync(`/proc/${name}/cmdline`, "utf8"));
    } catch {
      return false;
    }
  });
}
