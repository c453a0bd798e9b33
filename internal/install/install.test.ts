import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { sha256 } from "../../testdata/install/candidates.ts";
import { InstallStage, installedAt } from "../../testdata/install/stage.ts";
import { refusal, snapshot } from "../../testdata/tree/test-tree.ts";
import { loadAgent, loadTool } from "../tree/mod.ts";
import { auditResidue, readInstallReceipt } from "./mod.ts";
import { isFuseMount } from "./target.ts";

// Every tree is synced to the disk, which a busy machine makes slow.
setDefaultTimeout(60_000);

let stage: InstallStage;
beforeEach(() => {
  stage = new InstallStage();
});
afterEach(() => stage.close());

const install: InstallStage["install"] = (...args) => stage.install(...args);
const refusedUnchanged = (work: () => unknown) => stage.refusedUnchanged(work);
const at = (path: string) => stage.path(path);

describe("installObject()", () => {
  test("publishes a tool whole: executable, controls, receipt, in its folder's ownership", () => {
    const definition = "c".repeat(64);
    const executable = `#!/ctx/bin/ctx exec\n# class: tool\n# mcp-definition: sha256:${definition}\n`;
    const path = stage.manifest({ executable });
    const manifestSha = sha256(readFileSync(path));
    const { receipt, object, kept } = stage.installPath(path);
    expect([object, kept]).toEqual(["tool/box.open", []]);
    const facts = lstatSync(at("tool/box.open"), { bigint: true });
    expect(receipt).toEqual({
      schema: "cortexfs.object-install/v2",
      class: "tool",
      name: "box.open",
      version: "1.0.0",
      tier: "system",
      executable: {
        dev: String(facts.dev),
        ino: String(facts.ino),
        sha256: sha256(executable),
        bytes: executable.length,
      },
      manifest_sha256: manifestSha,
      definition,
      installed_at: installedAt.toISOString(),
    });
    expect(readInstallReceipt(stage.tree, "tool/box.open")).toEqual(receipt);
    expect(loadTool(stage.tree, "/ctx/tool", "box.open")).toMatchObject({
      description: "Opens a box",
      cap: ["read"],
      builtin: false,
    });
    expect(loadTool(stage.tree, "/ctx/tool", "box.open").policy?.lines).toEqual([]);
    const folder = lstatSync(at("tool"));
    const found = [...snapshot(stage.made.source)].filter(([name]) =>
      name.startsWith("tool/box.open"),
    );
    expect(found.map(([name, what]) => `${name} ${what.split(" ")[0]}`)).toEqual([
      "tool/box.open 755",
      "tool/box.open.d 755",
      "tool/box.open.d/cap 644",
      "tool/box.open.d/description 644",
      "tool/box.open.d/hooks 755",
      "tool/box.open.d/hooks/post.d 755",
      "tool/box.open.d/hooks/pre.d 755",
      "tool/box.open.d/install.json 644",
      "tool/box.open.d/log 644",
      "tool/box.open.d/name 644",
      "tool/box.open.d/policy 644",
      "tool/box.open.d/schema 644",
      "tool/box.open.d/status 644",
    ]);
    for (const [, what] of found) expect(what).toContain(` ${folder.uid}:${folder.gid} `);
    expect(auditResidue(stage.tree)).toEqual([]);
  });

  test("installs in the user tier, into the home and to whom it belongs", () => {
    const { uid } = stage.made.owner;
    const { object, receipt } = install({}, { tier: "user" });
    expect([object, receipt.tier]).toEqual([`home/${uid}/tool/box.open`, "user"]);
    expect(lstatSync(at(`${object}.d/policy`)).uid).toBe(uid);
    expect(loadTool(stage.tree, `/ctx/home/${uid}/tool`, "box.open").name).toBe("box.open");
    expect(readInstallReceipt(stage.tree, object)).toEqual(receipt);
    expect(refusedUnchanged(() => install({}, { tier: "user", uid: 4242 }))).toContain(
      "ENOENT uid 4242 has no home in this tree",
    );
  });

  test("installs an agent, with the least of what its manifest leaves out", () => {
    install({ class: "agent", name: "boxer" });
    expect(loadAgent(stage.tree, "boxer")).toMatchObject({
      owner: stage.made.owner.uid,
      uid: stage.made.owner.uid,
      perm: { read: true, write: false, execute: false },
      mount: [],
    });
    expect(lstatSync(at("agent/boxer.d/policy")).uid).toBe(stage.made.owner.uid);
    expect(refusedUnchanged(() => install({ class: "agent" }, { tier: "user" }))).toContain(
      'EINVAL agent "box.open" cannot be installed in the user tier',
    );
    const controls = { label: "other_t", model: ["no/such"] };
    const lost = { class: "agent", name: "other", controls } as const;
    expect(refusedUnchanged(() => install(lost))).toContain("ENOENT ");
  });

  test("makes the tool folder of a home that has none", () => {
    mkdirSync(at("home/4242"));
    install({}, { tier: "user", uid: 4242 });
    const facts = (path: string) => lstatSync(at(path));
    expect(facts("home/4242/tool").mode & 0o777).toBe(0o755);
    expect(facts("home/4242/tool").uid).toBe(facts("home/4242").uid);
    rmSync(at("home/4242/tool"), { recursive: true });
    symlinkSync(stage.work, at("home/4242/tool"));
    expect(refusedUnchanged(() => install({}, { tier: "user", uid: 4242 }))).toContain(
      "EACCES cannot work in",
    );
  });

  test("lets no manifest say as whom its agent runs, or with whose policy lines", () => {
    const { uid, gid } = stage.made.owner;
    const agent = (controls: Record<string, unknown>) =>
      ({ class: "agent", name: "other", controls }) as const;
    for (const controls of [
      { owner: "4242" },
      { uid: "0" },
      { uid: "4242" },
      { gid: "0" },
      { groups: [27] },
      { label: "coder_t" },
      { label: "other_u:agent_r:coder_t:s0" },
    ]) {
      const [name] = Object.keys(controls);
      const said = refusedUnchanged(() => install(agent(controls)));
      expect(said).toMatch(/^EINVAL .* line \d+, column \d+: /);
      expect(said).toContain(`: field "controls.${name}": `);
    }
    install(agent({ owner: `${uid}`, uid: `${uid}`, gid: `${gid}`, groups: [] }));
    // Its own second version has its own label.
    install(agent({}), { replace: true });
    expect(refusedUnchanged(() => install({ class: "agent", name: "third" }))).toContain(
      '"boxer_t" is the type of agent "other"',
    );
  });

  test("takes no name that is taken, by an object or by what is there alone", () => {
    install();
    expect(refusedUnchanged(() => install())).toBe('EEXIST "tool/box.open" exists already');
    mkdirSync(at("tool/lone.d"));
    expect(refusedUnchanged(() => install({ name: "lone" }))).toContain('EEXIST "tool/lone.d"');
    symlinkSync("/nowhere", at("tool/link"));
    expect(refusedUnchanged(() => install({ name: "link" }))).toContain("EEXIST ");
    for (const name of ["fs.read", "zellij"]) {
      const said = refusedUnchanged(() => install({ name }));
      expect(said).toContain("EINVAL ");
      expect(said).toContain("a built-in tool has this name");
    }
  });

  test("takes no name that somebody else takes while it is at work", () => {
    const taking = (what: string) => (step: string) => {
      if (step === what) writeFileSync(at("tool/box.open"), "mine");
    };
    expect(refusal(() => install({}, { step: taking("executable") })).code).toBe("EEXIST");
    expect(readFileSync(at("tool/box.open"), "utf8")).toBe("mine");
    expect(readdirSync(at("tool")).filter((name) => /box/.test(name))).toEqual(["box.open"]);
    unlinkSync(at("tool/box.open"));
    const folder = (step: string) => step === "publish" && mkdirSync(at("tool/box.open.d"));
    expect(refusal(() => install({}, { step: folder })).code).toBe("EEXIST");
    expect(readdirSync(at("tool/box.open.d"))).toEqual([]);
  });

  test("follows no symlink in the tree", () => {
    renameSync(at("tool"), at("tools"));
    symlinkSync("tools", at("tool"));
    expect(refusal(() => install()).message).toContain("a symlink is on its way");
    expect(existsSync(at("tools/box.open"))).toBe(false);
  });

  test("refuses a view, and a folder that bootstrap did not make a tree", () => {
    const view = { ...stage.tree, source: "/ctx" };
    expect(refusedUnchanged(() => install({}, { tree: view }))).toBe(
      'EINVAL "/ctx" is a view and no source tree',
    );
    rmSync(at("bin/cortexfs.bootstrap.json"));
    expect(refusedUnchanged(() => install())).toContain("holds no record of a bootstrap");
  });

  test("a FUSE file system is a view", () => {
    const text =
      "36 35 98:0 / /mnt rw,noatime master:1 - ext3 /dev/root rw\n" +
      "37 35 0:41 / /ctx rw,nosuid shared:2 - fuse.ctx ctxd rw,user_id=0\n";
    expect([isFuseMount(text, "36"), isFuseMount(text, "37"), isFuseMount(text, "3")]).toEqual([
      false,
      true,
      false,
    ]);
  });
});

describe("what is checked and what is copied", () => {
  test("an executable that is replaced in between changes nothing", () => {
    const path = stage.manifest();
    const program = join(stage.work, "bin/box.open");
    const step = (name: string) => {
      if (name !== "fill") return;
      unlinkSync(program);
      writeFileSync(program, "#!/bin/sh\necho evil\n", { mode: 0o755 });
    };
    const { receipt } = stage.installPath(path, { step });
    expect(readFileSync(at("tool/box.open"), "utf8")).toBe("#!/bin/sh\necho open\n");
    expect(receipt.executable.sha256).toBe(sha256("#!/bin/sh\necho open\n"));
  });

  test("an executable that is changed in between is refused, and nothing is left", () => {
    for (const moment of ["make", "fill"]) {
      const step = (name: string) => {
        if (name === moment)
          writeFileSync(join(stage.work, "bin/box.open"), "#!/bin/sh\necho evil\n");
      };
      expect(refusedUnchanged(() => install({}, { step }))).toContain(
        'field "executable.sha256": the executable changed while it was installed',
      );
    }
    expect(install().object).toBe("tool/box.open");
  });
});
