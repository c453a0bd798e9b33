import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { hostileScripts, hostileServer, python } from "./hostile.ts";

if (python === undefined) console.log("SKIP internal/testkit: there is no /usr/bin/python3");
const here = test.skipIf(!python);

/** Says all that a client says at once and closes; then the first bytes of what the server said. */
async function talk(script: string, ...args: string[]): Promise<{ said: string; exit: unknown }> {
  const [command = "", ...rest] = hostileServer(script, args);
  const child = spawn(command, rest, { stdio: ["pipe", "pipe", "ignore"] });
  child.stdin.on("error", () => undefined);
  const ended = new Promise((resolve) => {
    child.on("exit", (code, signal) => resolve(signal ?? code));
  });
  const line = (message: object) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
  child.stdin.end(
    [
      line({ id: 0, method: "initialize", params: {} }),
      line({ method: "notifications/initialized" }),
      line({ id: 1, method: "tools/list" }),
      line({ id: 2, method: "tools/call", params: { name: "echo", arguments: { b: 1, a: 2 } } }),
    ].join(""),
  );
  let said = "";
  for await (const chunk of child.stdout.setEncoding("latin1")) {
    said += chunk;
    if (said.length > 4_000_000) break;
  }
  child.kill("SIGKILL");
  return { said, exit: await ended };
}

here("the decent server answers everything and goes", async () => {
  const { said, exit } = await talk("plain");
  const results = said
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).result);
  expect(results.map((result) => Object.keys(result))).toEqual([
    ["protocolVersion", "capabilities", "serverInfo"],
    ["tools"],
    ["content"],
  ]);
  expect(results[2]).toEqual({ content: [{ type: "text", text: '{"a": 2, "b": 1}' }] });
  expect(exit).toBe(0);
});

here("there are scripts for every way that is known, each with a sentence about it", () => {
  const scripts = hostileScripts();
  expect(scripts.length).toBeGreaterThan(75);
  expect(new Set(scripts).size).toBe(scripts.length);
});

const spoken: readonly (readonly [string, readonly string[], RegExp])[] = [
  ["noise", [], /^Server running[\s\S]*"protocolVersion"/],
  ["no-newline", ["5"], /x{1000000}/],
  ["carriage-returns", [], /\r\n/],
  ["batch", [], /^\[\{"jsonrpc"/],
  ["endless-cursor", [], /"nextCursor": "1"/],
  ["version", ["2024-10-07"], /"protocolVersion": "2024-10-07"/],
  ["version", ["missing"], /"result": \{"capabilities"/],
  ["exit", ["list"], /"protocolVersion".*\n$/],
  ["exit-after-half-a-line", ["call"], /\{"tools":\[$/],
  ["duplicate-replies", [], /"id": 1\b[\s\S]*"id": 1\b/],
  ["unsolicited-replies", [], /"id": 999[\s\S]*"id": 2/],
  ["notifications-for-ever", [], /(?:notifications\/message[^\n]*\n[^\n]*){1000}/],
  ["progress-flood", [], /(?:notifications\/progress[^\n]*\n[^\n]*){1000}/],
  ["result-large", ["1"], /"text":"[0-9a-f]{1000000}/],
  ["result-not-utf8", [], /a\xff\xc3\(/],
  ["result-deep", [], /(\{"a":){100000}/],
  ["schema-deep", ["1000"], /(\{"properties":\{"a":){1000}/],
  ["schema", ["large"], /"p3000"/],
  ["many-tools", ["20000"], /"t999"[\s\S]*"nextCursor"/],
  ["killed", ["call"], /"tools"/],
];

for (const [script, args, wanted] of spoken) {
  here(`the script ${[script, ...args].join(" ")} says what it is named for`, async () => {
    const { said } = await talk(script, ...args);
    // Not toMatch: a failure would print megabytes.
    expect({ matches: wanted.test(said), end: said.slice(-300) }).toMatchObject({ matches: true });
  });
}
