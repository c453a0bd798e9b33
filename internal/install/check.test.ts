import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { sha256, writeCandidate } from "../../testdata/install/candidates.ts";
import { refusal } from "../../testdata/tree/test-tree.ts";
import { checkManifest } from "./mod.ts";

let work: string;
beforeAll(() => {
  work = mkdtempSync("/tmp/cortexfs-check-");
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

function check(path: string, version?: string) {
  const checked = checkManifest(path, version);
  checked.close();
  return checked;
}

function refused(path: string, version?: string): string {
  const { code, message, place } = refusal(() => check(path, version));
  return `${code} ${place === undefined ? "" : `${place.line}:${place.column} `}${message}`;
}

const program = (name = "box.open") => join(work, "bin", name);

describe("checkManifest()", () => {
  test("says what was checked and writes nothing", () => {
    const path = writeCandidate(work);
    const before = [statSync(work).mtimeMs, ...readdirSync(work, { recursive: true })];
    const { manifest, sha256: own, definition } = check(path);
    expect([manifest.class, manifest.name, definition]).toEqual(["tool", "box.open", undefined]);
    expect(own).toHaveLength(64);
    expect([statSync(work).mtimeMs, ...readdirSync(work, { recursive: true })]).toEqual(before);
  });

  test("finds the definition of a server's tool near the start and nowhere else", () => {
    const line = `# mcp-definition: sha256:${sha256("x")}\n`;
    const of = (executable: string) => check(writeCandidate(work, { executable })).definition;
    expect(of(`#!/ctx/bin/ctx exec\n${line}`)).toBe(sha256("x"));
    expect(of(`#!/ctx/bin/ctx exec\n${"#\n".repeat(300)}${line}`)).toBeUndefined();
    expect(of(`#!/ctx/bin/ctx exec\n#${line}`)).toBeUndefined();
  });

  test("wants it of the common runner with a locator, which could ask for nothing without", () => {
    const controls = { mcp: { transport: "stdio", config: "/w/m.json", server: "a", tool: "b" } };
    const of = (executable: string) => writeCandidate(work, { executable, controls });
    expect(refused(of("#!/ctx/bin/ctx exec\n"))).toContain(
      'field "controls.mcp": its executable has no line # mcp-definition: sha256:…',
    );
    expect(check(of("#!/bin/sh\n")).definition).toBeUndefined();
  });

  test("refuses another digest, another version of this product and what is not there", () => {
    const path = writeCandidate(work);
    writeFileSync(program(), "#!/bin/sh\necho other\n");
    expect(refused(path)).toContain(`EINVAL 11:15 "${path}" line 11, column 15: `);
    expect(refused(path)).toContain('field "executable.sha256": "bin/box.open" has the digest ');
    unlinkSync(program());
    expect(refused(path)).toBe(
      'ENOENT 10:13 cannot open executable "bin/box.open": it does not exist',
    );
    expect(refused(join(work, "no.json"))).toContain("ENOENT cannot read manifest");
    expect(refused(join(work, "no/no.json"))).toContain("ENOENT cannot open manifest");
    const narrow = writeCandidate(work, { manifest: { compatibility: { cortexfs: "^0.1.0" } } });
    expect(check(narrow, "0.1.9").manifest.name).toBe("box.open");
    expect(refused(narrow, "0.2.0")).toEndWith(
      'field "compatibility.cortexfs": this is CortexFS 0.2.0, which is not in "^0.1.0"',
    );
  });

  test("takes an executable regular file alone", () => {
    const path = writeCandidate(work);
    chmodSync(program(), 0o644);
    expect(refused(path)).toBe('EACCES 10:13 executable "bin/box.open" is not executable');
    unlinkSync(program());
    mkdirSync(program());
    expect(refused(path)).toBe('EACCES 10:13 executable "bin/box.open" is not a regular file');
    rmSync(program(), { recursive: true });
    expect(Bun.spawnSync(["mkfifo", "-m", "755", program()]).exitCode).toBe(0);
    expect(refused(path)).toBe('EACCES 10:13 executable "bin/box.open" is not a regular file');
    rmSync(program());
    writeFileSync(program(), "", { mode: 0o755 });
    truncateSync(program(), 256 * 1024 * 1024 + 1);
    expect(refused(path)).toContain("EMSGSIZE 10:13 ");
    rmSync(program());
  });

  test("follows no symlink: of the executable, a folder on its way, the manifest, one above it", () => {
    const path = writeCandidate(work);
    const link = "a symlink is on its way, and none is followed here";
    renameSync(program(), `${program()}.real`);
    symlinkSync("box.open.real", program());
    expect(refused(path)).toBe(`EACCES 10:13 cannot open executable "bin/box.open": ${link}`);
    renameSync(`${program()}.real`, program());
    renameSync(join(work, "bin"), join(work, "real"));
    symlinkSync("real", join(work, "bin"));
    expect(refused(path)).toBe(`EACCES 10:13 cannot open executable "bin/box.open": ${link}`);
    unlinkSync(join(work, "bin"));
    renameSync(join(work, "real"), join(work, "bin"));
    const other = join(work, "other.json");
    symlinkSync(path, other);
    expect(refused(other)).toBe(`EACCES cannot read manifest "${other}": ${link}`);
    const above = `${work}.link`;
    symlinkSync(work, above);
    const through = join(above, "box.open.manifest.json");
    expect(refused(through)).toBe(`EACCES cannot open manifest "${through}": ${link}`);
    unlinkSync(above);
    expect(check(path).manifest.name).toBe("box.open");
  });

  test("names the place where a manifest stops being UTF-8", () => {
    const path = join(work, "bytes.json");
    writeFileSync(path, Buffer.from('{\n "a\xff": 1}', "latin1"));
    expect(refused(path)).toBe(`EINVAL 2:4 "${path}" line 2, column 4: text is not valid UTF-8`);
  });
});
