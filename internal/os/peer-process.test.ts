import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, closeSync, copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ancestors, type PeerProcess, peerProcess, pidOf, processFacts } from "./mod.ts";

let base = "";
beforeAll(() => {
  base = mkdtempSync("/tmp/ctx-peer-");
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

describe("processFacts()", () => {
  test("reads past a command name that looks like the rest of the line", async () => {
    for (const name of [") S 1 1 (", "a) Z 7\n(b", "((((", "\n\n", "x ) R 1 2"]) {
      const path = join(base, name);
      copyFileSync("/bin/sleep", path);
      chmodSync(path, 0o755);
      const child = Bun.spawn([path, "60"]);
      try {
        const facts = processFacts(child.pid);
        const own = processFacts(process.pid);
        expect([name, facts?.pid, facts?.parent]).toEqual([name, child.pid, process.pid]);
        expect(["S", "R", "D"]).toContain(facts?.state ?? "");
        expect(Number(facts?.startTime)).toBeGreaterThanOrEqual(Number(own?.startTime));
      } finally {
        child.kill();
        await child.exited;
      }
    }
  });
});

describe("ancestors()", () => {
  test("goes up to whom it shall end at, to the top, or as far as it may", async () => {
    const child = Bun.spawn(["/bin/sleep", "60"]);
    try {
      const toUs = ancestors(child.pid, 64, ({ pid }) => pid === process.pid);
      expect(toUs.map(({ pid }) => pid)).toEqual([child.pid, process.pid]);
      const toTop = ancestors(child.pid, 64, () => false);
      expect(toTop.length).toBeGreaterThan(2);
      expect(toTop.at(-1)?.parent).toBe(0);
      expect(ancestors(child.pid, 2, () => false)).toHaveLength(2);
    } finally {
      child.kill();
      await child.exited;
    }
    expect(ancestors(child.pid, 64, () => false)).toEqual([]);
  });
});

describe("peerProcess()", () => {
  test("pins the process that connected until it is gone", async () => {
    const path = join(base, "sock");
    const accepted = Promise.withResolvers<PeerProcess>();
    const listener = Bun.listen({
      unix: path,
      socket: {
        open: (socket) => accepted.resolve(peerProcess((socket as unknown as { fd: number }).fd)),
        data() {},
      },
    });
    const child = Bun.spawn(
      [
        process.execPath,
        "-e",
        `await Bun.connect({ unix: ${JSON.stringify(path)}, socket: { data() {} } });
         await new Promise((resolve) => process.stdin.on("data", resolve));
         process.exit(0);`,
      ],
      { stdin: "pipe" },
    );
    try {
      const peer = await accepted.promise;
      expect([peer.pid, peer.uid, pidOf(peer.pidfd)]).toEqual([
        child.pid,
        process.getuid?.() ?? 0,
        child.pid,
      ]);
      child.stdin.write("\n");
      child.stdin.end();
      await child.exited;
      expect(pidOf(peer.pidfd)).toBeUndefined();
      closeSync(peer.pidfd);
    } finally {
      child.kill();
      listener.stop(true);
    }
  }, 30_000);
});
