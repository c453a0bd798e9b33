// The official conformance scenarios for clients. They are servers over HTTP, so `ctxmcp` reaches them
// over a bridge that is a server over stdio. What a scenario asks of HTTP would be asked of the bridge.

import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { dist } from "./world.ts";

const top = resolve(import.meta.dir, "../..");
const program = join(top, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
const client = join(top, "testdata/mcp/conformance-client.ts");
const ctxmcp = join(dist, "ctxmcp");

const run = ["initialize", "tools_call"];

/** Scenarios that are not run, by what their names begin with, and why. */
const leftOut: readonly (readonly [RegExp, string])[] = [
  [
    /^auth\//,
    "authorization is of HTTP; a server over stdio takes its credentials from its environment",
  ],
  [/^sse-retry$/, "when to connect again is of HTTP"],
  [
    /^elicitation-/,
    "ctxmcp offers no elicitation: nobody is there to be asked, and a tool gets no answers",
  ],
];

async function conformance(args: readonly string[]) {
  // By bun, since the package wants a newer node than there may be.
  const child = Bun.spawn([process.execPath, program, ...args], {
    cwd: top,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, exit] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { stdout, stderr, exit };
}

const missing = [program, ctxmcp].find((path) => !existsSync(path));
if (missing !== undefined) console.log(`SKIP ctxmcp conformance: there is no ${missing}`);
const here = test.skipIf(missing !== undefined);

here("every scenario for clients is run or left out with a reason", async () => {
  const { stdout, exit } = await conformance(["list", "--client"]);
  expect(exit).toBe(0);
  const names = [
    ...stdout.slice(stdout.indexOf("Client scenarios")).matchAll(/^ {2}- (\S+)/gm),
  ].map((match) => match[1] as string);
  expect(names).toEqual(expect.arrayContaining(run));
  const unknown = names.filter(
    (name) => !run.includes(name) && !leftOut.some(([pattern]) => pattern.test(name)),
  );
  expect(unknown).toEqual([]);
});

for (const scenario of run) {
  here(`ctxmcp passes the conformance scenario ${scenario}`, async () => {
    // The command is split at spaces and given to a shell.
    const command = [process.execPath, client, ctxmcp].join(" ");
    expect(command).toMatch(/^[\w./ +-]+$/);
    const { stderr, exit } = await conformance([
      "client",
      "--command",
      command,
      "--scenario",
      scenario,
    ]);
    expect(stderr).toMatch(/Passed: [1-9]\d*\/\d+, 0 failed, 0 warnings/);
    expect(stderr).toContain("OVERALL: PASSED");
    expect(exit).toBe(0);
  });
}
