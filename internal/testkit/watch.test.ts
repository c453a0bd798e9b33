import { expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { hostileServer, python } from "./hostile.ts";
import { watch } from "./watch.ts";

if (python === undefined) console.log("SKIP internal/testkit: there is no /usr/bin/python3");

function watched(argv: readonly string[], seconds = 20, stdin?: string) {
  const mark = `mark-${randomUUID()}`;
  const env = { PATH: "/usr/bin:/bin", HOSTILE_MARK: mark };
  return watch(argv, { env, cwd: "/", mark, seconds, ...(stdin === undefined ? {} : { stdin }) });
}

test.skipIf(!python)("a program that leaves nothing leaves nothing", async () => {
  const done = await watched(["/bin/sh", "-c", "echo out; echo err >&2; sleep 0.1 & wait; exit 7"]);
  const { seconds, peakMiB, ...rest } = done;
  expect(rest).toEqual({ exit: 7, stdout: "out\n", stderr: "err\n", late: false, left: [] });
  expect(seconds).toBeGreaterThan(0.1);
  expect(peakMiB).toBeGreaterThan(0.5);
});

test.skipIf(!python)("an orphan in a session of its own is seen and ended", async () => {
  const argv = ["/bin/sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 & exit 0"];
  const { left } = await watched(argv);
  expect(left).toHaveLength(1);
  expect(left[0]).toMatch(/^\d+ (?:setsid )?sleep 1000 $/);
  const pid = (left[0] as string).split(" ")[0];
  while (existsSync(`/proc/${pid}`)) await Bun.sleep(5);
});

test.skipIf(!python)("the daemons of the hostile server are seen", async () => {
  const { left } = await watched(hostileServer("survivor", ["start", "2"]), 20, "");
  expect(left).toHaveLength(2);
});

test.skipIf(!python)("a program that does not end is ended and called late", async () => {
  const { late, exit, left } = await watched(["/bin/sleep", "1000"], 0.2);
  expect({ late, exit, left }).toEqual({ late: true, exit: -9, left: [] });
});

test.skipIf(!python)(
  "what only has the mark is told and not ended; a short mark is refused",
  async () => {
    const mark = `mark-${randomUUID()}`;
    const other = Bun.spawn(["/bin/sleep", "1000"], { env: { HOSTILE_MARK: mark } });
    try {
      const options = { env: { PATH: "/usr/bin:/bin" }, cwd: "/", mark, seconds: 20 };
      const { left } = await watch(["/bin/true"], options);
      expect(left).toEqual([`${other.pid} /bin/sleep 1000 `]);
      expect(other.exitCode).toBeNull();
      await expect(watch(["/bin/true"], { ...options, mark: "mark" })).rejects.toThrow();
    } finally {
      other.kill("SIGKILL");
      await other.exited;
    }
  },
);
