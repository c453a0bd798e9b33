import { expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { hostileServer, python } from "../testkit/mod.ts";
import { openServer } from "./mod.ts";

setDefaultTimeout(120_000);
if (python === undefined) console.log("SKIP internal/mcp: there is no /usr/bin/python3");
const here = test.skipIf(!python);

const never = new AbortController().signal;
/** Of what ends at once; a server that has to be killed is given its grace each time. */
const rounds = 5;

/** Uses a server as far as it goes and closes it. */
async function use(script: string, args: readonly string[]): Promise<void> {
  const argv = hostileServer(script, args);
  const env = { PATH: "/usr/bin:/bin" };
  const options = { argv, env, cwd: "/", roots: [], signal: never, startMs: 400 };
  const server = await openServer(options).catch(() => undefined);
  await server?.callTool("echo", {}, { signal: never, idleMs: 300, totalMs: 600 }).catch(() => {});
  await server?.close();
}

const descriptors = () => readdirSync("/proc/self/fd").length;

/** Children of this process, zombies too. */
function children(): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
        const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        return Number(parent) === process.pid ? [`${pid} ${state}`] : [];
      } catch {
        return [];
      }
    });
}

const used: readonly (readonly [string, readonly string[]])[] = [
  ["plain", []],
  ["version", ["2024-10-07"]],
  ["exit", ["initialize"]],
  ["exit", ["call"]],
  ["exit-after-half-a-line", ["list"]],
  ["killed", ["call"]],
  ["silence", ["initialize"]],
  ["silence", ["call"]],
  ["closes-stdout", ["list"]],
  ["no-newline", ["20", "list"]],
  ["requests-for-ever", []],
];

for (const [script, args] of used) {
  const again = script === "plain" || script === "exit" ? rounds : 1;
  here(`${script} ${args.join(" ")} leaves no descriptor, no child and no zombie`, async () => {
    await use(script, args);
    const before = descriptors();
    for (let round = 0; round < again; round++) await use(script, args);
    expect(children()).toEqual([]);
    Bun.gc(true);
    // Fewer when the collector has only now closed what the first use left to it.
    expect(descriptors()).toBeLessThanOrEqual(before);
  });
}
