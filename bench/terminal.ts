// Terminals: how fast a child can put out what clients watch, against a program that only reads its
// pseudo-terminal and against dtach; how long a client waits for its first full screen; how much
// memory the terminal's process holds. The child times itself, so that starting counts for nothing.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TerminalClient } from "../testdata/e2e/terminal-ctxterm-client.ts";
import { dist } from "../testdata/e2e/world.ts";
import { median, type Result } from "./measure.ts";
import { compileProgram } from "./start.ts";

const floodBytes = 128 * 1024 * 1024;
const rounds = 3;
const attaches = 150;
const manyWatchers = 16;
/** Output of a flood between two attaches. */
const freshBytes = 256 * 1024;

/** A bare reader of a pseudo-terminal: what no terminal server can be faster than. */
const readerSource = `
const [command, ...rest] = process.argv.slice(2);
const child = Bun.spawn([command, ...rest], { terminal: { cols: 80, rows: 24, data() {} } });
process.exit(await child.exited);
`;

/**
 * Joins so many times with the bytes that it is given in hexadecimal, and reads all to their ends.
 * One process: what is measured is the terminal, not how many processes share the processors.
 */
const watcherSource = `
const [path, hello, count, silent] = process.argv.slice(2);
let left = Number(count);
let waiting = left;
const here = () => { if (--waiting === 0) process.stdout.write("here"); };
const over = (socket) => { if (!socket.data.over && --left === 0) process.exit(0); socket.data.over = true; };
for (let index = 0; index < Number(count); index++) {
  await Bun.connect({ unix: path, data: {}, socket: {
    open(socket) { socket.write(Uint8Array.fromHex(hello)); if (silent) here(); },
    data(socket) { if (!silent && !socket.data.seen) here(); socket.data.seen = true; },
    end: over, close: over,
  } });
}
`;

/** Waits for a file to be there, puts out the text and writes how many seconds that took. */
const childScript = `
while [ ! -e "$1/go" ]; do sleep 0.02; done
begun=$(date +%s%N)
cat "$1/text"
echo $(( $(date +%s%N) - begun )) > "$1/took"
`;

/** As dtach's clients begin: the packet that attaches. */
const dtachHello = "01000000000000000000";
const watchHello = Buffer.from("watch\n").toString("hex");

interface Stage {
  readonly folder: string;
  readonly socket: string;
  readonly reader: string;
  readonly watcher: string;
  readonly child: readonly string[];
}

interface Watchers {
  readonly count: number;
  /** Bytes in hexadecimal. */
  readonly hello: string;
}

interface Peak {
  mebibytes: number;
}

async function makeStage(): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), "ctxterm-bench-"));
  const line = `${"0123456789".repeat(7)} line\n`;
  writeFileSync(join(folder, "text"), line.repeat(Math.floor(floodBytes / line.length)));
  writeFileSync(join(folder, "child.sh"), childScript);
  return {
    folder,
    socket: join(folder, "main.sock"),
    reader: await compileProgram(folder, "reader", readerSource),
    watcher: await compileProgram(folder, "watcher", watcherSource),
    child: ["/bin/sh", join(folder, "child.sh"), folder],
  };
}

/** Milliseconds of the child's output under this program, with so many watchers on the socket. */
async function outputMs(
  stage: Stage,
  argv: readonly string[],
  watchers: Watchers,
  peak?: Peak,
): Promise<number> {
  for (const name of ["go", "took"]) rmSync(join(stage.folder, name), { force: true });
  const server = Bun.spawn([...argv], { stdin: "ignore", stdout: "ignore", stderr: "inherit" });
  const watching = watchers.count === 0 ? undefined : await startWatchers(stage, watchers);
  writeFileSync(join(stage.folder, "go"), "");
  const took = join(stage.folder, "took");
  while (!(await Bun.file(took).exists())) await Bun.sleep(20);
  await Bun.sleep(20);
  if (peak !== undefined) peak.mebibytes = Math.max(peak.mebibytes, residentPeak(server.pid));
  await Promise.all([server.exited, watching?.exited]);
  return Number(readFileSync(took, "utf8")) / 1e6;
}

async function startWatchers(stage: Stage, { count, hello }: Watchers) {
  const until = Date.now() + 10_000;
  // A terminal says something at once; dtach only when its child does.
  const silent = hello === dtachHello ? ["silent"] : [];
  while (Date.now() < until) {
    const watcher = Bun.spawn([stage.watcher, stage.socket, hello, String(count), ...silent], {
      ...{ stdin: "ignore", stdout: "pipe", stderr: "ignore" },
    });
    const { value } = await watcher.stdout.getReader().read();
    if (value !== undefined) return watcher;
    await watcher.exited;
  }
  throw new Error(`nobody listens at ${stage.socket}`);
}

function residentPeak(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(status.match(/^VmHWM:\s+(\d+)/m)?.[1]) / 1024;
}

async function outputRatios(stage: Stage, peak: Peak): Promise<Result[]> {
  const { socket, child } = stage;
  const terminal = [join(dist, "ctxterm"), "--listen", socket, "--", ...child];
  const dtach = Bun.which("dtach");
  if (dtach === null) process.stdout.write("SKIP terminal / dtach: dtach is not installed\n");
  const none = { count: 0, hello: "" };
  const sides = [
    () => outputMs(stage, [stage.reader, ...child], none),
    () => outputMs(stage, terminal, { count: 1, hello: watchHello }, peak),
    () => outputMs(stage, terminal, { count: manyWatchers, hello: watchHello }, peak),
    ...(dtach === null
      ? []
      : [() => outputMs(stage, [dtach, "-N", socket, ...child], { count: 1, hello: dtachHello })]),
  ];
  const times = sides.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, side] of sides.entries()) times[index]?.push(await side());
  }
  const [plain = 0, one = 0, many = 0, other] = times.map(median);
  const speed = (ms: number) => `${(floodBytes / 1000 / ms).toFixed(0)} MB/s`;
  const against = (ms: number, base: number) => `${speed(ms)} against ${speed(base)}`;
  const result = (name: string, ms: number, base: number, limit: number): Result => ({
    ...{ name, value: ms / base, limit, unit: "times", detail: against(ms, base) },
  });
  return [
    // At least 0.9 and 0.8 of the speed, said as time.
    result("terminal, 1 watcher / plain PTY reader", one, plain, 1.11),
    result(`terminal, ${manyWatchers} watchers / plain PTY reader`, many, plain, 1.25),
    ...(other === undefined ? [] : [result("terminal / dtach, 1 watcher", one, other, 1)]),
  ];
}

/** A full coloured screen; then nothing, or a flood of such lines. */
const screens = {
  idle: `for i in $(seq 60); do printf '\\033[3%dm%s\\033[0m\\n' $((i % 8)) "$(seq -s ' ' 1 24)"; done
    echo ready; exec sleep 1000`,
  flood: `line=$(printf '\\033[32m%s\\033[0m %s' "$(seq -s ' ' 1 20)" text); echo ready; exec yes "$line"`,
} as const;

async function attachTimes(stage: Stage, kind: keyof typeof screens, peak: Peak): Promise<Result> {
  const argv = [join(dist, "ctxterm"), "--listen", stage.socket, "--", "/bin/sh", "-c"];
  const server = Bun.spawn([...argv, screens[kind]], { stdin: "ignore", stdout: "ignore" });
  try {
    const first = await joined(stage.socket);
    await first.until(({ text }) => text.length > 2000);
    let seen = 0;
    first.sink = (bytes) => {
      seen += bytes.length;
    };
    const times: number[] = [];
    for (let count = 0; count < attaches; count++) {
      // Without new output the screen is the one that the last client was given.
      const before = seen;
      if (kind === "flood") await first.until(() => seen > before + freshBytes);
      const begun = performance.now();
      const client = await TerminalClient.connect(stage.socket, "attach/1\n");
      await client.until((one) => one.frame("snapshot") !== undefined);
      times.push(performance.now() - begun);
      client.close();
    }
    peak.mebibytes = Math.max(peak.mebibytes, residentPeak(server.pid));
    const sorted = times.sort((a, b) => a - b);
    const value = sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.NaN;
    const limit = kind === "idle" ? 30 : 100;
    const detail = `median ${median(sorted).toFixed(1)} ms`;
    return { name: `attach to first full screen, ${kind}, p99`, value, limit, unit: "ms", detail };
  } finally {
    server.kill("SIGKILL");
    await server.exited;
  }
}

async function joined(socket: string): Promise<TerminalClient> {
  const until = Date.now() + 10_000;
  for (;;) {
    const client = await TerminalClient.connect(socket, "watch/1\n").catch(() => undefined);
    if (client !== undefined) return client;
    if (Date.now() > until) throw new Error(`nobody listens at ${socket}`);
    await Bun.sleep(10);
  }
}

export async function terminalResults(): Promise<Result[]> {
  const stage = await makeStage();
  const peak = { mebibytes: 0 };
  try {
    const results = await outputRatios(stage, peak);
    results.push(await attachTimes(stage, "idle", peak));
    results.push(await attachTimes(stage, "flood", peak));
    const value = peak.mebibytes;
    const detail = "the most of any terminal above";
    return [...results, { name: "ctxterm resident", value, limit: 80, unit: "MiB", detail }];
  } finally {
    rmSync(stage.folder, { recursive: true, force: true });
  }
}
