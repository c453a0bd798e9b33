// `ctxterm` under what clients and children do to it: a flood with clients that stand still, clients
// that come and go, output that nobody reads. The long forms are 1 GiB, ten thousand and 2 GiB.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { TerminalClient } from "./terminal-ctxterm-client.ts";
import { CtxtermStage, type RunningTerminal } from "./terminal-ctxterm-stage.ts";

const long = process.env["CTX_LONG"] === "1";
const mebibyte = 1024 * 1024;

let stage: CtxtermStage;
beforeEach(() => {
  stage = new CtxtermStage();
});
afterEach(() => stage.end());

/** Begins when a line is typed; the end is told apart from what the flood is made of. */
const flood = (bytes: number) =>
  `stty raw -echo; read go; head -c ${bytes} /dev/zero | tr '\\0' x; printf 'o%s' ver`;

function memory(pid: number, what: "VmRSS" | "VmHWM"): number {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(text.match(new RegExp(`^${what}:\\s+(\\d+) kB`, "m"))?.[1]) / 1024;
}

const descriptors = (pid: number) => readdirSync(`/proc/${pid}/fd`).length;

/** Prints "here" when it has seen the screen, and what it was told when the connection ends. */
const watcherScript = `
import { TerminalClient } from ${JSON.stringify(join(import.meta.dir, "terminal-ctxterm-client.ts"))};
const client = await TerminalClient.connect(process.argv[1], "watch/1\\n");
client.sink = () => {};
await client.until(({ frames }) => frames.length > 0);
process.stdout.write("here\\n");
await client.untilEnd();
process.stdout.write(client.frame("error")?.code + "\\n");
process.exit(0);
`;

/** A watcher in a process of its own, which can be stopped; says what it was told last. */
async function otherWatcher(socket: string) {
  const child = Bun.spawn([process.execPath, "-e", watcherScript, socket], {
    ...{ stdout: "pipe", stdin: "ignore" },
  });
  const reader = child.stdout.getReader();
  await reader.read();
  const told = async () => {
    const { value } = await reader.read();
    return new TextDecoder().decode(value);
  };
  return { child, told };
}

test("a watcher that is stopped and one that never reads slow nobody and are let go", async () => {
  const bytes = (long ? 1024 : 64) * mebibyte;
  const terminal = stage.start(flood(bytes));
  const attached = await stage.join("attach/1\n");
  const digest = new Bun.CryptoHasher("sha256");
  let seen = 0;
  const watcher = await stage.join("watch\n");
  await watcher.until(({ text }) => text !== "");
  watcher.sink = (chunk) => {
    const part = chunk.subarray(0, Math.max(bytes - seen, 0));
    digest.update(part);
    seen += chunk.length;
  };
  const idle = await stage.join("watch/1\n");
  await idle.until(({ frames }) => frames.length > 0);
  idle.stopReading();
  const stopped = await otherWatcher(stage.socket);
  stopped.child.kill("SIGSTOP");
  attached.sink = () => {};
  await attached.until(({ frames }) => frames.length > 0);
  attached.type("\n");
  await watcher.until(() => seen > bytes / 4);
  // In the middle of it a new client sees the screen at once.
  const begun = performance.now();
  const joiner = await stage.join("attach/1\n");
  await joiner.until((client) => client.frame("snapshot") !== undefined);
  expect(performance.now() - begun).toBeLessThan(1000);
  joiner.close();
  await watcher.until(() => seen === bytes + 4);
  const expected = new Bun.CryptoHasher("sha256");
  const block = new Uint8Array(mebibyte).fill(0x78);
  for (let done = 0; done < bytes; done += mebibyte) expected.update(block);
  expect(digest.digest("hex")).toBe(expected.digest("hex"));
  expect(memory(terminal.pid, "VmHWM")).toBeLessThan(160);
  idle.sink = () => {};
  idle.readOn();
  stopped.child.kill("SIGCONT");
  expect((await idle.untilEnd()).frame("error")).toMatchObject({ code: "slow_consumer" });
  expect(await stopped.told()).toBe("slow_consumer\n");
  await stopped.child.exited;
  expect(await terminal.exited).toBe(0);
});

test("clients that come and go leave nothing behind", async () => {
  const count = long ? 10_000 : 600;
  const terminal = stage.start("echo here; exec sleep 1000");
  const first = await stage.join("watch\n");
  await first.until(({ text }) => text.includes("here"));
  const batch = async (size: number) => {
    const firsts = ["watch\n", "attach/1\n", "", "nonsense\n", "attach\n", "watch/1\n"];
    const clients = await Promise.all(
      Array.from({ length: size }, (_, index) =>
        TerminalClient.connect(stage.socket, firsts[index % firsts.length] as string),
      ),
    );
    // Half of them leave before they saw anything.
    await Promise.all(
      clients
        .filter((_, index) => index % 4 === 1)
        .map((client) => client.until(({ frames, text }) => frames.length > 0 || text !== "")),
    );
    for (const client of clients) client.close();
  };
  // As many again as it takes to have warmed up, so that what is left over is what was left behind.
  for (let done = 0; done < count; done += 24) await batch(24);
  await settled(terminal, 40);
  const before = { fds: descriptors(terminal.pid), memory: memory(terminal.pid, "VmRSS") };
  for (let done = 0; done < count; done += 24) await batch(24);
  await settled(terminal, before.fds);
  expect(descriptors(terminal.pid)).toBeLessThanOrEqual(before.fds);
  expect(memory(terminal.pid, "VmRSS") - before.memory).toBeLessThan(24);
});

/** Until the server has noticed who left. */
async function settled(terminal: RunningTerminal, fds: number): Promise<void> {
  const until = Date.now() + 5000;
  while (descriptors(terminal.pid) > fds && Date.now() < until) await Bun.sleep(10);
}

test("output that nobody watches takes no memory and a bounded log", async () => {
  const bytes = (long ? 2048 : 48) * mebibyte;
  const half = `read go; head -c ${bytes / 2} /dev/zero | tr '\\0' x; : >`;
  const script = `stty raw -echo; ${half} first; ${half} second; read go`;
  const terminal = stage.start(script, ["--record", stage.log]);
  const typist = await stage.join("attach\n");
  await typist.until(({ text }) => text !== "");
  const facts = () => ({ fds: descriptors(terminal.pid), memory: memory(terminal.pid, "VmRSS") });
  const start = facts();
  const run = async (client: TerminalClient, marker: string) => {
    client.type("\n");
    client.endInput();
    while (!existsSync(stage.path(marker))) await Bun.sleep(20);
    client.close();
    await settled(terminal, start.fds - 1);
    return facts();
  };
  const first = await run(typist, "first");
  const second = await run(await stage.join("attach\n"), "second");
  expect(second.fds).toBe(start.fds - 1);
  expect(second.memory - first.memory).toBeLessThan(24);
  const files = readdirSync(stage.folder).filter((name) => name.startsWith("events.jsonl"));
  for (const name of files)
    expect(statSync(stage.path(name)).size).toBeLessThanOrEqual(64 * mebibyte);
  expect(files.length).toBeLessThanOrEqual(2);
  const kept = stage.records().at(0);
  if (long) expect(kept).toMatchObject({ type: "gap", reason: "rotated" });
});
