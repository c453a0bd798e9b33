// A full disk, on a real small file system: nothing is acknowledged that is not there, and the
// session goes on when there is room again.

import { expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { collect, oneCall, place, readLines, send, service, types } from "./fixture.ts";

const sizeBytes = 512 * 1024;

function mountSmall(): { readonly folder: string; unmount(): void } | undefined {
  const folder = mkdtempSync(join(tmpdir(), "session-disk-"));
  const options = `size=${sizeBytes},mode=0700`;
  const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder]);
  if (!mounted.success) {
    rmSync(folder, { recursive: true });
    return undefined;
  }
  return {
    folder,
    unmount() {
      Bun.spawnSync(["umount", "-l", folder]);
      rmSync(folder, { recursive: true });
    },
  };
}

/** Fills the file system to the last byte, but for `leave`. */
function fill(folder: string, leave: number): string {
  const path = join(folder, "ballast");
  let size = sizeBytes;
  for (;;) {
    try {
      writeFileSync(path, new Uint8Array(size));
      break;
    } catch {
      unlinkSync(path);
      size -= 4096;
    }
  }
  if (leave > 0) writeFileSync(path, new Uint8Array(size - leave));
  return path;
}

test("a full disk refuses inputs with ENOSPC and takes them again when there is room", async () => {
  const disk = mountSmall();
  if (disk === undefined) {
    console.log("SKIP a full disk: a tmpfs cannot be mounted here (needs root)");
    return;
  }
  const at = place(disk.folder);
  const sessions = service(at, oneCall);
  try {
    await collect(await sessions.send("coder", send("a")));
    const path = join(at.sessionFolder(), "messages.jsonl");
    const before = statSync(path).size;
    const events = at.events().length;
    const ballast = fill(disk.folder, 0);
    const input = "x".repeat(20_000);
    const refused = sessions.send("coder", send("b", { input }));
    await expect(refused).rejects.toMatchObject({ code: "ENOSPC" });
    expect(statSync(path).size).toBe(before);
    expect(at.events().length).toBe(events);
    unlinkSync(ballast);
    const frames = await collect(await sessions.send("coder", send("b", { input })));
    expect(frames.at(-1)).toMatchObject({ type: "done", status: "ok" });
    await sessions.close();
    const again = service(at, oneCall);
    expect(await collect(await again.send("coder", send("b", { input })))).toMatchObject(
      frames.filter((one) => "seq" in one),
    );
    await again.close();
  } finally {
    await sessions.close();
    disk.unmount();
  }
});

test("a disk that fills in the middle of a run fails the run; its end is recorded later", async () => {
  const disk = mountSmall();
  if (disk === undefined) {
    console.log("SKIP a disk that fills: a tmpfs cannot be mounted here (needs root)");
    return;
  }
  const at = place(disk.folder);
  let ballast = "";
  const sessions = service(at, async (context) => {
    ballast = fill(disk.folder, 0);
    await context.message("y".repeat(50_000));
    return { status: "ok" };
  });
  try {
    const frames = await collect(await sessions.send("coder", send("a")));
    expect(frames.slice(-2)).toMatchObject([
      { type: "error", code: "ENOSPC" },
      { type: "done", status: "error", code: "ENOSPC" },
    ]);
    unlinkSync(ballast);
    const replay = await collect(await sessions.send("coder", send("a")));
    expect(types(replay)).toEqual(["start", "message", "error", "done"]);
    expect(replay.at(-1)).toMatchObject({ status: "error", code: "ENOSPC" });
    expect(readLines(join(at.sessionFolder(), "messages.jsonl")).length).toBe(1);
  } finally {
    if (existsSync(ballast)) unlinkSync(ballast);
    await sessions.close();
    disk.unmount();
  }
});

test("a read-only tree is refused and nothing is left open", async () => {
  const disk = mountSmall();
  if (disk === undefined) {
    console.log("SKIP a read-only tree: a tmpfs cannot be mounted here (needs root)");
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "session-run-"));
  const at = place(disk.folder);
  mkdirSync(join(at.source, "home"));
  Bun.spawnSync(["mount", "-o", "remount,ro", disk.folder]);
  const sessions = service(at, oneCall, { runtime: folder });
  try {
    await expect(sessions.send("coder", send("a"))).rejects.toMatchObject({ code: "EROFS" });
  } finally {
    await sessions.close();
    Bun.spawnSync(["mount", "-o", "remount,rw", disk.folder]);
    disk.unmount();
    rmSync(folder, { recursive: true });
  }
});
