// MCP servers: listing with `ctxmcp` against the official inspector's command line, and what projecting
// a thousand tools takes beyond the server's own time. Memory is what the client's own processes held
// at most; the server is the same on both sides and is left out.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { hostileServer } from "../internal/testkit/mod.ts";
import { dist } from "../testdata/e2e/world.ts";
import { median, medianTimes, type Result, runProgram } from "./measure.ts";

const rounds = 5;
const manyTools = 1000;
const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: "/nonexistent" };
const ctxmcp = join(dist, "ctxmcp");

export async function mcpResults(): Promise<Result[]> {
  const folder = mkdtempSync(join(tmpdir(), "ctxmcp-bench-"));
  try {
    return [...(await listResults(folder)), await projectResult(folder)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function configure(folder: string, name: string, [command, ...args]: readonly string[]): string[] {
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify({ mcpServers: { [name]: { command, args } } }));
  return ["--config", file, "--server", name];
}

async function listResults(folder: string): Promise<Result[]> {
  const node = Bun.which("node");
  if (node === null) {
    process.stdout.write("SKIP ctxmcp list / inspector: there is no node\n");
    return [];
  }
  const server = [node, packageFile("server-everything", "dist/index.js")];
  const ours = [ctxmcp, "list", ...configure(folder, "everything", server)];
  const launcher = packageFile("inspector", "clients/launcher/build/index.js");
  const theirs = [node, launcher, "--cli", ...server, "--method", "tools/list"];
  const [mine = 0, other = 0] = await medianTimes(
    [
      async () => void (await runProgram(ours, { env, cwd: folder })),
      async () => void (await runProgram(theirs, { env, cwd: folder })),
    ],
    rounds,
  );
  const small = await peakMiB(ours, folder, server);
  const large = await peakMiB(theirs, folder, server);
  const against = (a: number, b: number) => `${a.toFixed(1)} MiB against ${b.toFixed(1)} MiB`;
  return [
    {
      name: "ctxmcp list / inspector, 16 tools",
      value: mine / other,
      limit: 0.5,
      unit: "times",
      detail: `${mine.toFixed(0)} ms against ${other.toFixed(0)} ms`,
    },
    {
      name: "ctxmcp list / inspector, memory of its own",
      value: small.own / large.own,
      limit: 0.5,
      unit: "times",
      detail: against(small.own, large.own),
    },
    {
      name: "ctxmcp list / inspector, with program pages",
      value: small.resident / large.resident,
      limit: undefined,
      unit: "times",
      detail: against(small.resident, large.resident),
    },
  ];
}

function packageFile(name: string, path: string): string {
  return resolve(import.meta.dir, "../node_modules/@modelcontextprotocol", name, path);
}

/** The most that a program and its children but the server held, in MiB. */
interface Peak {
  /** Memory that nobody else has: what their ends give back. */
  readonly own: number;
  /** With the pages of the program's file, which stay in the page cache and go when others need them. */
  readonly resident: number;
}

async function peakMiB(
  argv: readonly string[],
  cwd: string,
  server: readonly string[],
): Promise<Peak> {
  const peaks: Peak[] = [];
  for (let round = 0; round < 3; round++) peaks.push(await peakOnce(argv, cwd, server.join("\0")));
  return {
    own: median(peaks.map((one) => one.own)),
    resident: median(peaks.map((one) => one.resident)),
  };
}

async function peakOnce(argv: readonly string[], cwd: string, server: string): Promise<Peak> {
  const child = Bun.spawn([...argv], {
    ...{ cwd, env, stdin: "ignore", stdout: "pipe", stderr: "ignore" },
  });
  const output = new Response(child.stdout).text();
  const peaks = new Map<number, Peak>();
  while (child.exitCode === null && child.signalCode === null) {
    for (const pid of family(child.pid)) {
      if (read(pid, "cmdline").startsWith(server)) {
        peaks.delete(pid);
        continue;
      }
      const status = read(pid, "status");
      const field = (name: string) =>
        Number(status.match(new RegExp(`^${name}:\\s+(\\d+)`, "m"))?.[1] ?? 0) / 1024;
      const before = peaks.get(pid) ?? { own: 0, resident: 0 };
      peaks.set(pid, {
        own: Math.max(before.own, field("RssAnon")),
        resident: Math.max(before.resident, field("VmHWM")),
      });
    }
    await Bun.sleep(2);
  }
  if ((await output) === "" || peaks.size === 0) throw new Error(`${argv[0]} listed nothing`);
  const sum = (field: keyof Peak) => [...peaks.values()].reduce((all, one) => all + one[field], 0);
  return { own: sum("own"), resident: sum("resident") };
}

function read(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return "";
  }
}

/** A process and its descendants. */
function family(leader: number): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const parents = new Map(
    pids.map((name) => {
      const stat = read(Number(name), "stat");
      return [Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1])];
    }),
  );
  const found = [leader];
  for (const at of found) {
    for (const [pid, parent] of parents) if (parent === at) found.push(pid);
  }
  return found;
}

async function projectResult(folder: string): Promise<Result> {
  const server = hostileServer("many-tools", [String(manyTools)]);
  const named = configure(folder, "many", server);
  let round = 0;
  const project = () => {
    const out = join(folder, `out-${round++}`);
    return [ctxmcp, "project", ...named, "--runtime-config", "/workspace/mcp.json", "--out", out];
  };
  const [own = 0, whole = 0] = await medianTimes(
    [() => bareList(server), async () => void (await runProgram(project(), { env, cwd: folder }))],
    3,
  );
  const written = readdirSync(join(folder, "out-0")).filter((name) =>
    name.endsWith(".manifest.json"),
  );
  if (written.length !== manyTools) throw new Error(`${written.length} manifests were written`);
  return {
    name: "ctxmcp project, 1,000 tools, beyond the server",
    value: (whole - own) / 1000,
    limit: 1,
    unit: "s",
    detail: `${whole.toFixed(0)} ms, of which the server ${own.toFixed(0)} ms`,
  };
}

/** The same exchange by a client that does nothing else, until the server is gone. */
async function bareList(argv: readonly string[]): Promise<void> {
  const child = Bun.spawn([...argv], { env, stdin: "pipe", stdout: "pipe", stderr: "ignore" });
  const say = (message: object) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    child.stdin.flush();
  };
  const clientInfo = { name: "bare", version: "1.0.0" };
  say({
    ...{ id: 0, method: "initialize" },
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
  });
  let unread = "";
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    const lines = (unread + decoder.decode(chunk, { stream: true })).split("\n");
    unread = lines.pop() ?? "";
    for (const line of lines) {
      const { id, result } = JSON.parse(line) as { id?: number; result?: { nextCursor?: string } };
      if (id === 0) say({ method: "notifications/initialized" });
      if (id === 1 && result?.nextCursor === undefined) child.stdin.end();
      else say({ id: 1, method: "tools/list", params: { cursor: result?.nextCursor } });
    }
  }
  if ((await child.exited) !== 0) throw new Error("the server failed");
}
