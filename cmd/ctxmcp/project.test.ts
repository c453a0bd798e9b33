import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseManifest } from "../../internal/manifest/mod.ts";
import { hostileServer, python } from "../../internal/testkit/mod.ts";
import { Stage } from "../../testdata/cli/mcp-stage.ts";

setDefaultTimeout(120_000);
const stage = new Stage();
const { place } = stage;
afterAll(() => place.remove());
if (python === undefined) console.log("SKIP cmd/ctxmcp: there is no /usr/bin/python3");
const here = test.skipIf(!python);

const server = (script: string, args: readonly string[] = [], entry: object = {}) =>
  stage.server(hostileServer(script, args), entry);

const ctxmcp = stage.run.bind(stage);

const out = () => stage.folder();

const project = (named: readonly string[], folder: string, ...more: string[]) =>
  ctxmcp(["project", ...named, "--runtime-config", "/workspace/m.json", "--out", folder, ...more]);

const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");

here("writes a manifest and its executable, the same bytes each time", async () => {
  const [first, second] = [out(), out()];
  const named = server("plain");
  const done = await project(named, first);
  expect(done).toEqual({
    exit: 0,
    out: `written    s.add\nwritten    s.echo\n2 written, 0 unchanged, 0 skipped, in ${first}\n`,
    err: "",
  });
  await project(named, second);
  const names = readdirSync(first).sort();
  expect(names).toEqual(["s.add", "s.add.manifest.json", "s.echo", "s.echo.manifest.json"]);
  for (const name of names) {
    expect(readFileSync(join(second, name))).toEqual(readFileSync(join(first, name)));
  }
  const manifest = parseManifest(readFileSync(join(first, "s.echo.manifest.json"), "utf8"), "m");
  const executable = readFileSync(join(first, "s.echo"));
  expect([manifest.name, manifest.version, manifest.executable]).toEqual([
    "s.echo",
    "1.0.0",
    { path: "s.echo", sha256: sha256(executable) },
  ]);
  const definition = '{"description":"Tool echo","inputSchema":{"type":"object"},"name":"echo"}';
  expect(executable.toString()).toBe(
    `#!/ctx/bin/ctx exec\n# class: tool\n# name: s.echo\n# mcp-definition: sha256:${sha256(definition)}\n`,
  );
  expect(statSync(join(first, "s.echo")).mode & 0o777).toBe(0o755);
});

here("says what it skips and why", async () => {
  const { exit, out: text } = await project(server("same-name-twice"), out());
  expect(exit).toBe(0);
  expect(text).toContain('skipped    "echo": the server has 2 tools of this name\n');
  const illegal = await project(server("illegal-names"), out());
  expect(illegal.out).toMatch(
    /^(?:written {4}s\.\S+\n)+written {4}s\.first\nwritten {4}s\.last\n(?:skipped .*\n)+\d written, /,
  );
  expect(illegal.out.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
});

here("skips a schema by which no input can be judged, and takes any dialect's", async () => {
  for (const kind of ["type-unknown", "ref-nowhere", "pattern-broken", "ref-remote"]) {
    const folder = out();
    const { exit, out: text } = await project(server("schema", [kind]), folder);
    expect([kind, exit, text]).toEqual([
      kind,
      0,
      expect.stringMatching(/^skipped {4}"echo": its schema is no JSON Schema: .*\n0 written, /),
    ]);
    expect(readdirSync(folder)).toEqual([]);
  }
  for (const kind of [
    "draft-04",
    "draft-07",
    "draft-2019-09",
    "ref-recursive",
    "keyword-unknown",
  ]) {
    const { out: text } = await project(server("schema", [kind]), out());
    expect([kind, text]).toEqual([kind, expect.stringContaining("written    s.echo\n")]);
  }
});

here("writes only what is chosen, and ends with 1 when that is not to be had", async () => {
  const folder = out();
  const one = await project(server("plain"), folder, "--only", "echo");
  expect([one.exit, readdirSync(folder).length]).toEqual([0, 2]);
  const none = await project(server("plain"), folder, "--only", "no-such");
  expect([none.exit, none.out]).toEqual([
    1,
    `skipped    "no-such": the server has no such tool\n0 written, 0 unchanged, 1 skipped, in ${folder}\n`,
  ]);
});

here("writes nothing in a dry run", async () => {
  const folder = out();
  const { exit, out: text } = await project(server("plain"), folder, "--dry-run");
  expect([exit, text]).toEqual([
    0,
    `would be written  s.add\nwould be written  s.echo\n2 would be written, 0 unchanged, 0 skipped, in ${folder}\n`,
  ]);
  expect(() => readdirSync(folder)).toThrow();
});

here(
  "replaces what says something else only with --force, and never through a symlink",
  async () => {
    const folder = out();
    const named = server("plain");
    await project(named, folder);
    expect((await project(named, folder)).out).toContain("0 written, 2 unchanged");
    const path = join(folder, "s.echo.manifest.json");
    const right = readFileSync(path, "utf8");
    writeFileSync(path, "mine");
    const kept = await project(named, folder);
    expect([kept.exit, kept.out.split("\n")[1]]).toEqual([
      1,
      'kept       s.echo: "s.echo.manifest.json" says something else, --force replaces it',
    ]);
    expect(readFileSync(path, "utf8")).toBe("mine");
    expect((await project(named, folder, "--force")).exit).toBe(0);
    expect(readFileSync(path, "utf8")).toBe(right);
    const target = join(place.work, "target");
    writeFileSync(target, right);
    const linked = out();
    await project(named, linked, "--only", "add");
    symlinkSync(target, join(linked, "s.echo.manifest.json"));
    expect((await project(named, linked)).out).toContain("kept       s.echo");
    expect((await project(named, linked, "--force")).exit).toBe(0);
    expect(readFileSync(target, "utf8")).toBe(right);
    expect(statSync(join(linked, "s.echo.manifest.json")).ino).not.toBe(statSync(target).ino);
  },
);

here("warns of values that look like secrets, and copies none", async () => {
  const folder = out();
  const named = server("plain", [], { env: { API_TOKEN: "hunter22hunter22", B: "${B:-b}" } });
  const { err } = await project(named, folder);
  expect(err).toContain('warning: env.API_TOKEN of server "s" in ');
  expect(err).not.toContain("hunter22");
  const elsewhere = server("plain", [], { cwd: "${HOME}" });
  const warned = `warning: cwd of server "s" in "${elsewhere[1]}" uses HOME: `;
  expect((await project(elsewhere, out())).err).toStartWith(warned);
  for (const name of readdirSync(folder)) {
    expect(readFileSync(join(folder, name), "utf8")).not.toContain("hunter22");
  }
});

here("shows with --diff what the server says otherwise now, and writes nothing", async () => {
  const folder = out();
  const named = server("schema", ["draft-07"]);
  await project(named, folder);
  const diff = (script: string, args: readonly string[], ...more: string[]) =>
    ctxmcp(["project", ...server(script, args), "--out", folder, "--diff", ...more]);
  expect(await diff("schema", ["draft-07"])).toEqual({
    exit: 0,
    out: "nothing has changed\n",
    err: "",
  });
  const changed = await diff("schema", ["draft-06"]);
  expect(changed.exit).toBe(1);
  expect(changed.out).toMatch(
    /^s\.echo: changed: input schema\n--- a\/input schema\n[\s\S]*^-.*draft-07[\s\S]*^\+.*draft-06/m,
  );
  const more = await diff("plain", [], "--json");
  const said = JSON.parse(more.out).differences.map(
    (one: { object: string; what: string }) => `${one.object} ${one.what}`,
  );
  expect(said).toEqual(["s.add new", "s.echo changed"]);
  const output = out();
  await project(server("output-schema", ["draft-07"]), output);
  const now = server("output-schema", ["text"]);
  const then = await ctxmcp(["project", ...now, "--out", output, "--diff"]);
  expect(then.out).toMatch(/^s\.echo: changed: output schema\n--- a\/output schema\n[\s\S]*^-/m);
  const gone = await diff("names-of-other-types", []);
  expect(gone.out).toContain("s.echo: gone");
  expect((await project(named, folder)).out).toContain("0 written, 1 unchanged");
});

here("tells a changed output schema from the executable alone", async () => {
  const folder = out();
  await project(server("output-schema", ["draft-07"]), folder);
  Bun.spawnSync(["rm", join(folder, "s.echo.definition.json")]);
  const named = server("output-schema", ["text"]);
  const { exit, out: text } = await ctxmcp(["project", ...named, "--out", folder, "--diff"]);
  expect([exit, text]).toEqual([1, "s.echo: changed: output schema\n"]);
});

test("needs to be told what the agent sees and where the files go", async () => {
  const config = join(place.work, "one.json");
  writeFileSync(config, '{"mcpServers": {"s": {"command": "x"}}}');
  const said = async (...argv: string[]) =>
    (await ctxmcp(["project", "--config", config, ...argv])).err.split(" [")[0];
  expect(await said()).toBe("ctxmcp: --out is missing");
  expect(await said("--out", "o")).toBe("ctxmcp: --runtime-config is missing");
  expect(await said("--out", "o", "--diff", "--force")).toBe(
    "ctxmcp: --diff and --force exclude each other",
  );
});
