// What a starter and a supervisor hear, through a real pipe and a real datagram socket.

import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, readSync, rmSync } from "node:fs";
import { join } from "node:path";
import { CodedError } from "../abi/mod.ts";
import { streamPair } from "../os/mod.ts";
import { createNotifier } from "./notify.ts";

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

function hear(fd: number): unknown {
  const buffer = new Uint8Array(4096);
  return JSON.parse(new TextDecoder().decode(buffer.subarray(0, readSync(fd, buffer))));
}

test("ready() tells the pipe once and closes it, and tells the supervisor READY=1", async () => {
  const folder = mkdtempSync("/tmp/cortexfs-notify-");
  const path = join(folder, "notify");
  const receiver = `
    socket(S, AF_UNIX, SOCK_DGRAM, 0); bind(S, sockaddr_un("${path}"));
    $| = 1; print "bound\n"; recv(S, my $text, 4096, 0); print $text;`;
  const child = Bun.spawn(["perl", "-MSocket", "-e", receiver], { stdout: "pipe" });
  cleanups.push(() => {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
  const reader = child.stdout.getReader();
  await reader.read();
  const [ours, theirs] = streamPair();
  const notifier = createNotifier({ CTXD_READY_FD: String(theirs), NOTIFY_SOCKET: path });
  notifier.ready();
  expect(hear(ours)).toEqual({ ok: true, pid: process.pid });
  expect(readSync(ours, new Uint8Array(1))).toBe(0);
  const { value } = await reader.read();
  expect(new TextDecoder().decode(value)).toBe(`READY=1\nMAINPID=${process.pid}\n`);
  // Nobody listens any more: the server goes on.
  await child.exited;
  expect(() => notifier.stopping()).not.toThrow();
});

test("failed() gives code, message and hint", () => {
  const [ours, theirs] = streamPair();
  const notifier = createNotifier({ CTXD_READY_FD: String(theirs) });
  notifier.failed(new CodedError("EACCES", "no", { hint: "ask" }));
  expect(hear(ours)).toEqual({ ok: false, code: "EACCES", message: "no", hint: "ask" });
});

test.each([undefined, "", "x", "2", "-1", "3 "])("CTXD_READY_FD=%j names no pipe", (value) => {
  expect(() => createNotifier({ CTXD_READY_FD: value }).ready()).not.toThrow();
});
