import { afterAll, expect, test } from "bun:test";
import { unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { RawClient } from "./raw-client.ts";
import { isRoot, World } from "./world.ts";

const world = new World();
let mounted = false;

/** Puts the tree onto a file system of its own, large enough for a copy of the five programs. */
function mount(): boolean {
  if (!isRoot) return false;
  const options = "size=640m,mode=755";
  mounted =
    Bun.spawnSync(["mount", "-t", "tmpfs", "-o", options, "none", world.source]).exitCode === 0;
  return mounted;
}

function remount(option: "ro" | "rw"): void {
  const done = Bun.spawnSync(["mount", "-o", `remount,${option}`, world.source]);
  if (done.exitCode !== 0) throw new Error(done.stderr.toString());
}

afterAll(async () => {
  await world.stop("SIGKILL");
  if (mounted) Bun.spawnSync(["umount", "-l", world.source]);
  await world.destroy();
});

function send(id: string, session = "disk"): RawClient {
  return new RawClient(`${world.source}/agent/coder.sock`, world.uid).send({
    ...{ op: "send", id, session, workspace: world.workspace },
    // Longer than what is left of a page that the log has already.
    input: `@say ${"written ".repeat(4000)}`,
  });
}

test("a full and a read-only tree refuse with their codes, and the session goes on afterwards", async () => {
  if (!mount()) return console.log("SKIP a full and a read-only tree: mounting needs root");
  await world.bootstrap();
  await world.run(["ctx", "set", "agent/coder.d/model", "debug/script"]);
  await world.serve(["--set", "session_idle_ms=200"]);
  expect(await send("before").done()).toMatchObject({ status: "ok" });

  const filler = join(world.source, "tool/filler");
  const fill = () => writeFileSync(filler, new Uint8Array(640 * 1024 * 1024));
  expect(fill).toThrow("ENOSPC");
  const full = send("full");
  expect(await full.until((frame) => frame.type === "error")).toMatchObject({ code: "ENOSPC" });
  await full.closed;
  expect(full.frames.filter((frame) => frame.seq !== undefined)).toEqual([]);
  unlinkSync(filler);
  const after = send("full");
  expect(await after.done()).toMatchObject({ status: "ok" });

  await world.stop();
  remount("ro");
  const set = await world.run(["ctx", "set", "agent/coder.d/perm", "r--"]);
  expect([set.exit, set.stderr]).toEqual([1, expect.stringContaining("[EROFS]")]);
  remount("rw");
  await world.serve();
  expect(await send("later").done()).toMatchObject({ status: "ok" });
  const events = world.events("disk");
  expect(events.map((event) => event["seq"])).toEqual(events.map((_, at) => at + 1));
  const asked = events.filter((event) => event["type"] === "request.accepted");
  expect(asked.map((event) => event["request"])).toEqual(["before", "full", "later"]);
}, 60_000);
