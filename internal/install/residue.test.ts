import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { InstallStage } from "../../testdata/install/stage.ts";
import { isRoot, refusal, snapshot } from "../../testdata/tree/test-tree.ts";
import { toolNames } from "../tree/mod.ts";
import { auditResidue, cleanupResidue, inspectObject, readInstallReceipt } from "./mod.ts";

// A process for each step, each synced to the disk, on a machine that may be busy.
setDefaultTimeout(300_000);

let stage: InstallStage;
beforeEach(() => {
  stage = new InstallStage();
});
afterEach(() => stage.close());

const at = (path: string) => stage.path(path);

const child = join(import.meta.dir, "install-child.ts");

interface Cut {
  readonly killed: boolean;
  /** Changes of a run that was not killed, and how many there were at each of its steps. */
  readonly calls: number;
  readonly steps: readonly number[];
}

/** Runs a deed that is killed before its n-th change; 0 lets it end. */
function cut(subject: string, deed: string, n: number): Cut {
  const argv = [process.execPath, child, stage.made.source, subject, deed, String(n)];
  const run = Bun.spawnSync(argv, { stderr: "pipe" });
  const [begun, counted] = run.stdout.toString().split("\n");
  expect([begun, run.stderr.toString()]).toEqual(["begin", ""]);
  const killed = run.signalCode === "SIGKILL";
  return { killed, ...(JSON.parse(counted || '{"calls":0,"steps":[]}') as Omit<Cut, "killed">) };
}

function cleanAll(): number {
  const found = auditResidue(stage.tree);
  for (const { path, dev, ino } of found) cleanupResidue(stage.tree, path, dev, ino);
  expect(auditResidue(stage.tree)).toEqual([]);
  return found.length;
}

const inTool = () =>
  readdirSync(at("tool"))
    .filter((name) => /box\.open/.test(name))
    .sort();

/** Numbers to cut at: those around each step, and some in every stretch between. */
function moments({ calls, steps }: Cut): number[] {
  const all = Array.from({ length: calls }, (_, index) => index + 1);
  return all.filter((n) => n % 9 === 1 || steps.some((step) => n >= step && n <= step + 2));
}

describe("kill -9", () => {
  test("at any change of an installation leaves no object or a whole one, and residue that goes", () => {
    const path = stage.manifest();
    const whole = cut(path, "install", 0);
    expect(whole.calls).toBeGreaterThan(30);
    rmSync(at("tool/box.open"));
    rmSync(at("tool/box.open.d"), { recursive: true });
    const seen = new Set<string>();
    for (const n of moments(whole)) {
      expect(cut(path, "install", n).killed).toBe(true);
      if (toolNames(stage.tree, "/ctx/tool").includes("box.open")) {
        expect(inspectObject(stage.tree, "tool/box.open").fault).toBeUndefined();
        seen.add("whole");
        expect(cleanAll()).toBe(0);
        rmSync(at("tool/box.open"));
        rmSync(at("tool/box.open.d"), { recursive: true });
        continue;
      }
      for (const { what } of auditResidue(stage.tree)) seen.add(what);
      cleanAll();
      expect(inTool()).toEqual([]);
    }
    expect([...seen].sort()).toEqual([
      "controls without an executable",
      "what was being put together or taken apart",
      "whole",
    ]);
  });

  test("at any change of a replacement leaves the old object or the new one for the next run", () => {
    const old = stage.manifest();
    stage.installPath(old);
    const first = stage.path("tool/box.open.d/policy");
    writeFileSync(first, "# mine\n");
    const next = stage.manifest({ executable: "#!/bin/sh\necho wide\n" });
    const whole = cut(next, "replace", 0);
    let unfinished = 0;
    for (const n of moments(whole)) {
      const before = readInstallReceipt(stage.tree, "tool/box.open");
      expect(cut(next, "replace", n).killed).toBe(true);
      expect(toolNames(stage.tree, "/ctx/tool")).toContain("box.open");
      // Whoever looks at the receipt sees that the executable is not of it, and refuses.
      if (inspectObject(stage.tree, "tool/box.open").fault !== undefined) {
        unfinished += 1;
        const {
          path = "",
          dev = "",
          ino = "",
        } = auditResidue(stage.tree).find(({ what }) => what.startsWith("the old controls")) ?? {};
        expect(refusal(() => cleanupResidue(stage.tree, path, dev, ino)).code).toBe("EACCES");
        expect(readInstallReceipt(stage.tree, "tool/box.open")).toEqual(before as never);
      }
      cleanAll();
      expect(inspectObject(stage.tree, "tool/box.open").fault).toBeUndefined();
      expect(readFileSync(first, "utf8")).toBe("# mine\n");
      expect(inTool()).toEqual(["box.open", "box.open.d"]);
    }
    expect(unfinished).toBeGreaterThan(0);
  });

  test("at any change of a removal leaves the object or residue that goes", () => {
    const path = stage.manifest();
    stage.installPath(path);
    const whole = cut("tool/box.open", "uninstall", 0);
    expect(inTool()).toEqual([]);
    for (const n of moments(whole)) {
      stage.installPath(path);
      expect(cut("tool/box.open", "uninstall", n).killed).toBe(true);
      if (toolNames(stage.tree, "/ctx/tool").includes("box.open")) {
        expect(inspectObject(stage.tree, "tool/box.open").fault).toBeUndefined();
        cut("tool/box.open", "uninstall", 0);
      }
      cleanAll();
      expect(inTool()).toEqual([]);
    }
  });
});

describe("auditResidue() and cleanupResidue()", () => {
  test("see nothing in what people made, and remove nothing of it", () => {
    mkdirSync(at("tool/mine.d"));
    symlinkSync("/etc", at("tool/link.d"));
    stage.install();
    const before = snapshot(stage.made.source);
    expect(auditResidue(stage.tree)).toEqual([]);
    const clean = (path: string) => {
      const { dev, ino } = lstatSync(at(path), { bigint: true, throwIfNoEntry: false }) ?? {
        dev: 1n,
        ino: 1n,
      };
      return refusal(() => cleanupResidue(stage.tree, path, String(dev), String(ino))).code;
    };
    expect(clean("tool/mine.d")).toBe("EINVAL");
    expect(clean("tool/link.d")).toBe("EINVAL");
    expect(clean("tool/box.open.d")).toBe("EINVAL");
    expect(clean("tool/box.open")).toBe("EINVAL");
    expect(clean("tool/box.open.d/.executable")).toBe("ENOENT");
    expect(clean("tool/.box.open.0123456789ab.install")).toBe("ENOENT");
    for (const path of ["bin", "home/1/agent/x.d", "../x.d", "tool/x.d/../../bin", "", "tool"]) {
      expect(clean(path)).toBe("EINVAL");
    }
    expect(snapshot(stage.made.source)).toEqual(before);
  });

  test("remove the very file that is named and no other", () => {
    const path = "tool/.box.open.0123456789ab.install";
    mkdirSync(at(`${path}/inner`), { recursive: true });
    symlinkSync("/etc/passwd", at(`${path}/inner/link`));
    mkdirSync(at(`home/${stage.made.owner.uid}/tool/.x.0123456789ab.install`));
    const [home, found] = auditResidue(stage.tree);
    expect(found?.changed_at).toBe(lstatSync(at(path)).ctime.toISOString());
    expect([home?.path, found?.path]).toEqual([
      `home/${stage.made.owner.uid}/tool/.x.0123456789ab.install`,
      path,
    ]);
    const { dev = "", ino = "" } = found ?? {};
    const other = () => cleanupResidue(stage.tree, path, dev, `${BigInt(ino) + 1n}`);
    expect(stage.refusedUnchanged(other)).toContain("EACCES ");
    expect(cleanupResidue(stage.tree, path, dev, ino)).toEqual(found as never);
    expect(existsSync(at(path))).toBe(false);
    expect(existsSync("/etc/passwd")).toBe(true);
    cleanAll();
  });
});

test("a full disk refuses with ENOSPC and leaves nothing", () => {
  const mounted =
    isRoot &&
    Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=256k,mode=755", "none", at("tool")])
      .exitCode === 0;
  if (!mounted) return console.log("SKIP a full disk: mounting needs root");
  try {
    const executable = `#!/bin/sh\n${"# filler\n".repeat(60_000)}`;
    const said = refusal(() => stage.install({ executable }));
    expect(said.code).toBe("ENOSPC");
    expect(readdirSync(at("tool"))).toEqual([]);
    const schema = { type: "object", x: "y".repeat(250_000) };
    expect(refusal(() => stage.install({ controls: { schema } })).code).toBe("ENOSPC");
    expect(readdirSync(at("tool"))).toEqual([]);
    expect(stage.install().object).toBe("tool/box.open");
  } finally {
    Bun.spawnSync(["umount", "-l", at("tool")]);
  }
});
