// Secrets of servers by the compiled programs: from the host's store into one server's environment, and
// to be found nowhere else.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { leftoversAfterGrace } from "./leftovers.ts";
import { entry, McpWorld, mcpSettings } from "./mcp-world.ts";
import { Run, sh, tsh } from "./terminal-calls-world.ts";
import { isRoot } from "./world.ts";

setDefaultTimeout(60_000);

const missing = !existsSync("/usr/bin/python3");
if (missing) console.log("SKIP secrets of servers: there is no /usr/bin/python3");

const world = new McpWorld();
const secret = `s3cret-${crypto.randomUUID()}`;

/** A variable as a configuration has it. */
const reference = (inner: string) => `\${${inner}}`;

describe.skipIf(missing)("the secrets of a server", () => {
  beforeAll(async () => {
    await world.project();
    await world.install("env");
    world.allow("plain.env");
    await world.serve(mcpSettings);
  });

  afterAll(async () => {
    const left = await leftoversAfterGrace(world);
    await world.destroy();
    if (isRoot) expect(left).toEqual([]);
  });

  const env = { TOKEN: reference("TOKEN"), OTHER: reference("OTHER:-fallback") };
  const token = ["env", { text: "TOKEN" }] as const;
  const login = (variable = "TOKEN") =>
    world.run(["ctx", "auth", "login", `mcp/plain/${variable}`], { input: `${secret}\n` });

  test("come from the host's store and stand in the server's environment alone", async () => {
    world.describe({ plain: { ...entry, env } });
    const [unset] = await world.call("secrets", token);
    expect(unset?.content).toContain("ctx auth login mcp/plain/TOKEN");
    expect(await login()).toMatchObject({ exit: 0 });
    const spy = "cat /proc/*/environ /proc/*/cmdline; grep -r s3cret /ctx /home/agent /workspace";
    const run = new Run(world, "secrets", [
      tsh("plain.env", JSON.stringify({ text: "OTHER" })),
      tsh("plain.env", JSON.stringify({ text: "TOKEN" })).replace("TOKEN", "ABSENT"),
      sh(spy),
    ]);
    const [other, absent, spied] = await run.results();
    expect([other?.content, absent?.content]).toEqual(["fallback", "unset"]);
    expect(spied?.content).not.toContain(secret);
    expect(everywhere(secret)).toEqual([join(world.base, "secrets/mcp/plain/TOKEN")]);
    expect((await world.call("given", token))[0]?.content).toBe(secret);
  });

  test("are not given to an entry that was changed, until one is set again", async () => {
    world.describe({ plain: { ...entry, env: { ...env, PYTHONVERBOSE: "1" } } });
    const [refused] = await world.call("changed", token);
    expect(refused?.status).toBe("error");
    expect(refused?.content).toContain("is not what its secrets were first given to");
    expect(await login()).toMatchObject({ exit: 0 });
    expect((await world.call("changed", token))[0]?.content).toBe(secret);
  });

  test("are refused in arguments, which other programs could read", async () => {
    const args = [...entry.args, reference("TOKEN")];
    world.describe({ plain: { ...entry, args } });
    const [refused] = await world.call("arguments", token);
    expect(refused?.content).toContain("args[1]");
    expect(refused?.content).not.toContain(secret);
  });
});

/** Files of the world that hold the text. */
function everywhere(text: string): string[] {
  const found = Bun.spawnSync(["grep", "-rlF", "-D", "skip", "--", text, world.base]);
  return found.stdout.toString().split("\n").filter(Boolean).sort();
}
