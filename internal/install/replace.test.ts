import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  appendFileSync,
  existsSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { sha256 } from "../../testdata/install/candidates.ts";
import { InstallStage } from "../../testdata/install/stage.ts";
import { refusal, snapshot } from "../../testdata/tree/test-tree.ts";
import { loadAgent, loadTool } from "../tree/mod.ts";
import {
  auditResidue,
  inspectObject,
  planUninstall,
  readInstallReceipt,
  uninstallObject,
} from "./mod.ts";

// Every tree is synced to the disk, which a busy machine makes slow.
setDefaultTimeout(60_000);

let stage: InstallStage;
beforeEach(() => {
  stage = new InstallStage();
});
afterEach(() => stage.close());

const at = (path: string) => stage.path(path);
const refusedUnchanged = (work: () => unknown) => stage.refusedUnchanged(work);

const second = {
  executable: "#!/bin/sh\necho wide open\n",
  controls: { description: "Opens it wide", policy: "allow evil_t tool:box.open execute" },
  manifest: { version: "2.0.0" },
};

describe("installObject() with replace", () => {
  const replace = (said: Parameters<InstallStage["install"]>[0] = second, step = noStep) =>
    stage.install(said, { replace: true, step });
  const noStep = (_: string): void => undefined;

  test("takes the new one whole, keeps a person's policy and the log, chains the receipts", () => {
    stage.install();
    const policy = "# mine\nallow coder_t tool:box.open execute\n";
    writeFileSync(at("tool/box.open.d/policy"), policy);
    appendFileSync(at("tool/box.open.d/log"), '{"ts":"1"}\n');
    const before = readFileSync(at("tool/box.open.d/install.json"));
    const { receipt, kept } = replace();
    expect(kept).toEqual(["policy"]);
    expect(receipt).toMatchObject({ version: "2.0.0", previous: sha256(before) });
    expect(readInstallReceipt(stage.tree, "tool/box.open")).toEqual(receipt);
    expect(readFileSync(at("tool/box.open"), "utf8")).toBe(second.executable);
    expect(readFileSync(at("tool/box.open.d/policy"), "utf8")).toBe(policy);
    expect(readFileSync(at("tool/box.open.d/log"), "utf8")).toBe('{"ts":"1"}\n');
    expect(loadTool(stage.tree, "/ctx/tool", "box.open").description).toBe("Opens it wide");
    expect(inspectObject(stage.tree, "tool/box.open").fault).toBeUndefined();
    expect(auditResidue(stage.tree)).toEqual([]);
    expect(replace().receipt.previous).toHaveLength(64);
  });

  test("changes nothing of an agent but what it is told and its program", () => {
    const agent = { class: "agent", name: "boxer" } as const;
    stage.install(agent);
    writeFileSync(at("agent/boxer.d/perm"), "---\n");
    const controls = {
      perm: "rwx",
      policy: "allow boxer_t tool:bash execute",
      "system.md": "New.\n",
    };
    const { kept } = stage.install({ ...agent, controls }, { replace: true });
    expect(kept).toEqual(["perm", "policy"]);
    const loaded = loadAgent(stage.tree, "boxer");
    expect([loaded.perm.execute, loaded.policy.lines]).toEqual([false, []]);
    expect(readFileSync(at("agent/boxer.d/system.md"), "utf8")).toBe("New.\n");
  });

  test("replaces only what a receipt speaks of and nobody changed", () => {
    expect(refusedUnchanged(() => replace())).toBe('ENOENT "tool/box.open" does not exist');
    stage.install();
    writeFileSync(at("tool/box.open.d/notes"), "mine");
    expect(refusedUnchanged(() => replace())).toContain(
      'ENOTEMPTY "tool/box.open.d" holds "notes"',
    );
    rmSync(at("tool/box.open.d/notes"));
    appendFileSync(at("tool/box.open"), "# mine\n");
    expect(refusedUnchanged(() => replace())).toContain("its content has changed");
    writeFileSync(at("tool/copy"), "#!/bin/sh\necho open\n", { mode: 0o755 });
    renameSync(at("tool/copy"), at("tool/box.open"));
    expect(refusedUnchanged(() => replace())).toContain("it is another file");
    rmSync(at("tool/box.open.d/install.json"));
    expect(refusedUnchanged(() => replace())).toContain('"tool/box.open" was not installed');
  });

  test("gives way to a person who changes it at the same moment", () => {
    stage.install();
    const before = readFileSync(at("tool/box.open.d/install.json"), "utf8");
    const edit = (step: string) => {
      if (step === "publish") appendFileSync(at("tool/box.open.d/policy"), "# mine\n");
    };
    expect(refusal(() => replace(second, edit)).code).toBe("busy");
    expect(readFileSync(at("tool/box.open.d/policy"), "utf8")).toBe("# mine\n");
    const swap = (step: string) => {
      if (step !== "publish") return;
      writeFileSync(at("tool/other"), "mine", { mode: 0o755 });
      renameSync(at("tool/other"), at("tool/box.open"));
    };
    expect(refusal(() => replace(second, swap)).code).toBe("EACCES");
    expect(readFileSync(at("tool/box.open"), "utf8")).toBe("mine");
    expect(readFileSync(at("tool/box.open.d/install.json"), "utf8")).toBe(before);
    expect(auditResidue(stage.tree)).toEqual([]);
  });
});

describe("uninstallObject()", () => {
  test("removes what its plan says, and nothing else", () => {
    const before = [...snapshot(stage.made.source).keys()];
    stage.install();
    writeFileSync(at("tool/box.open.d/notes"), "mine");
    writeFileSync(at("tool/box.open.d/hooks/pre.d/look"), "mine");
    writeFileSync(at("tool/box.open.d/log"), "{}\n");
    const plan = planUninstall(stage.tree, "/ctx/tool/box.open");
    const { removes, receipt } = plan;
    expect(plan.added).toEqual([
      "tool/box.open.d/hooks/pre.d/look",
      "tool/box.open.d/log",
      "tool/box.open.d/notes",
    ]);
    const added = [...snapshot(stage.made.source).keys()].filter((name) => !before.includes(name));
    expect(removes.map((path) => path.replace(/\/$/, "")).sort()).toEqual(added.sort());
    expect(removes[0]).toBe("tool/box.open");
    expect(removes.at(-1)).toBe("tool/box.open.d/");
    expect(uninstallObject(stage.tree, "tool/box.open").receipt).toEqual(receipt);
    expect([...snapshot(stage.made.source).keys()]).toEqual(before);
  });

  test("removes from a home", () => {
    const { object } = stage.install({}, { tier: "user" });
    expect(planUninstall(stage.tree, object).added).toEqual([]);
    uninstallObject(stage.tree, object);
    expect(existsSync(at(`${object}.d`))).toBe(false);
  });

  test("refuses what was not installed, what was changed, and what is no object", () => {
    const tried = (path: string) => {
      const planned = refusedUnchanged(() => planUninstall(stage.tree, path));
      expect(refusedUnchanged(() => uninstallObject(stage.tree, path))).toBe(planned);
      return planned;
    };
    expect(tried("tool/fs.read")).toBe(
      'EACCES "tool/fs.read" was not installed: it has no receipt',
    );
    expect(tried("tool/no")).toBe('ENOENT "tool/no" does not exist');
    for (const path of ["tool", "tool/../agent/coder", "model/debug/echo", "home/1/agent/x", "x"]) {
      expect(tried(path)).toStartWith("EINVAL ");
    }
    stage.install();
    appendFileSync(at("tool/box.open"), "# mine\n");
    expect(tried("tool/box.open")).toContain("EACCES the executable of");
    expect(inspectObject(stage.tree, "tool/box.open").fault).toBe("its content has changed");
    writeFileSync(at("tool/box.open.d/install.json"), "{}\n");
    expect(tried("tool/box.open")).toContain('EINVAL "tool/box.open.d/install.json" line 1');
    rmSync(at("tool/box.open"));
    expect(refusal(() => uninstallObject(stage.tree, "tool/box.open")).code).toBe("ENOENT");
  });

  test("removes no file that takes the place of the one that was judged", () => {
    stage.install();
    const swap = (step: string) => {
      if (step !== "executable") return;
      writeFileSync(at("tool/other"), "mine", { mode: 0o755 });
      renameSync(at("tool/other"), at("tool/box.open"));
    };
    expect(refusal(() => uninstallObject(stage.tree, "tool/box.open", swap)).code).toBe("EACCES");
    expect(readFileSync(at("tool/box.open"), "utf8")).toBe("mine");
    expect(lstatSync(at("tool/box.open.d")).isDirectory()).toBe(true);
  });
});
