import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { closeSync, linkSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPath } from "../os/mod.ts";
import { writeSmallFile } from "./small-file.ts";

const top = mkdtempSync(join(tmpdir(), "small-file-"));
const disk = `${top}/disk`;
let isFull = false;
let folder: number;

/** Fills a small disk of its own to the last page; false where none can be mounted. */
function fillDisk(): boolean {
  const script = `mkdir ${disk} && mount -t tmpfs -o size=64k none ${disk} &&
    printf 'ready\\n' > ${disk}/state && ln ${disk}/state ${disk}/linked &&
    printf 'ready\\n' > ${disk}/alone && { cat /dev/zero > ${disk}/filler; true; }`;
  return Bun.spawnSync(["/bin/sh", "-c", script], { stderr: "ignore" }).exitCode === 0;
}

beforeAll(() => {
  isFull = fillDisk();
  if (isFull) folder = openPath(disk, "folder");
});

afterAll(() => {
  if (isFull) {
    closeSync(folder);
    Bun.spawnSync(["umount", disk]);
  }
  rmSync(top, { recursive: true });
});

const text = (name: string) => readFileSync(join(disk, name), "utf8");

describe("on a full disk a small file", () => {
  const skips = () => {
    if (!isFull) console.log("SKIP no disk of its own can be mounted here");
    return !isFull;
  };

  test("is written over in its place, longer or shorter", () => {
    if (skips()) return;
    for (const state of ["exited\n", "lost\n"]) {
      writeSmallFile(folder, "alone", state);
      expect(text("alone")).toBe(state);
    }
  });

  test("that would need more room stays as it was, and the error names it", () => {
    if (skips()) return;
    const before = text("alone");
    const longer = () => writeSmallFile(folder, "alone", "x".repeat(5000));
    expect(longer).toThrow('cannot write "alone": ');
    expect(text("alone")).toBe(before);
    expect(() => writeSmallFile(folder, "status", "0\n")).toThrow('cannot write "status": ');
  });

  test("that has another name as well is not written over under both", () => {
    if (skips()) return;
    expect(() => writeSmallFile(folder, "state", "lost\n")).toThrow('cannot write "state": ');
    expect(text("linked")).toBe("ready\n");
  });
});

test("with room it is replaced, and a reader of the old one keeps what it opened", () => {
  const place = openPath(top, "folder");
  try {
    writeFileSync(`${top}/state`, "ready\n");
    linkSync(`${top}/state`, `${top}/old`);
    writeSmallFile(place, "state", "exited\n");
    expect(readFileSync(`${top}/state`, "utf8")).toBe("exited\n");
    expect(readFileSync(`${top}/old`, "utf8")).toBe("ready\n");
  } finally {
    closeSync(place);
  }
});
