import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CodedError } from "../../internal/abi/mod.ts";
import { Place } from "../../testdata/cli/program.ts";
import { parseStartFile, searchPath } from "./search-path.ts";

setDefaultTimeout(120_000);

const place = new Place();
beforeAll(() => place.bootstrap());
afterAll(() => place.remove());

const tsh = (...argv: string[]) => place.run(["tsh", ...argv]);

describe("tsh", () => {
  test("shows tools by CTX_PATH and describes one, escaped", async () => {
    expect((await tsh("tools")).out).toContain("fs.read              /ctx/tool\n");
    expect((await tsh("which", "fs.read")).out).toBe(`${place.source}/tool/fs.read\n`);
    writeFileSync(join(place.source, "tool/fs.stat.d/description"), "clear \x1b[2J it\n");
    expect((await tsh("help", "fs.stat")).out).toContain("clear \\x1b[2J it");
    expect((await tsh("which", "sh")).exit).toBe(1);
  });

  test("refuses to run anything outside an agent's terminal", async () => {
    const { exit, err } = await tsh("fs.read", "x");
    expect([exit, err]).toEqual([
      13,
      expect.stringMatching(/^tsh: cannot run tool "fs\.read": .*\[EACCES\]\n/),
    ]);
    // Without words its standard input is lines; it is empty here.
    expect((await tsh()).exit).toBe(0);
    expect((await tsh("../x")).exit).toBe(2);
    expect((await tsh("--fly")).exit).toBe(2);
  });

  test("the start file comes before the environment, and an agent's own path before both", () => {
    const home = join(place.base, "ctx-home");
    mkdirSync(home);
    const env = { CTX_HOME: home, CTX_PATH: "/ctx/b" };
    const at = (more = {}) => searchPath({ env: { ...env, ...more }, uid: 7, root: "/ctx" });
    expect(at()).toEqual(["/ctx/b"]);
    writeFileSync(join(home, ".tshrc"), "# mine\nCTX_PATH=/ctx/a:/ctx/tool\n");
    expect(at()).toEqual(["/ctx/a", "/ctx/tool"]);
    expect(at({ CTX_AGENT: "coder" })).toEqual(["/ctx/b"]);
    expect(searchPath({ env: {}, uid: 7, root: "/none" })).toEqual([
      "/ctx/tool",
      "/ctx/home/7/tool",
    ]);
  });

  test("the start file is data: anything else in it is an error with line and column", () => {
    const wrong: readonly (readonly [string, number, number])[] = [
      ["export CTX_PATH=/a", 1, 1],
      ["# mine\n\nCTX_PATH=/a\nCTX_PATH=/b", 4, 1],
      ["CTX_PATH=a", 1, 10],
      ["CTX_PATH=/a:b", 1, 13],
      ["CTX_PATH=/a:$(touch /tmp/x)", 1, 13],
      ["CTX_PATH=/a$(id)", 1, 12],
      ["CTX_PATH=/a; id", 1, 12],
      ['CTX_PATH="/a"', 1, 10],
      ["CTX_PATH=", 1, 10],
      ["CTX_PAT=/a", 1, 8],
      ["$(id)", 1, 1],
    ];
    for (const [text, line, column] of wrong) {
      const place = { file: ".tshrc", line, column };
      expect([text, refusedAt(text)]).toEqual([text, place]);
    }
    expect(parseStartFile("  # mine\n\nCTX_PATH=/ctx/tool:/ctx/b\n", ".tshrc")).toBe(
      "/ctx/tool:/ctx/b",
    );
  });

  test("with shell syntax in its start file runs nothing and says where", async () => {
    const home = join(place.base, "shell-home");
    const trap = join(place.base, "trap");
    mkdirSync(home);
    writeFileSync(join(home, ".tshrc"), `CTX_PATH=/ctx/tool:$(touch ${trap})\ntouch ${trap}\n`);
    const env = { CTX_HOME: home };
    for (const words of [["tools"], ["which", "fs.read"], ["fs.read", "x"]]) {
      const { exit, err } = await place.run(["tsh", ...words], { env });
      expect([exit, err]).toEqual([2, expect.stringContaining(`${home}/.tshrc:1:20: `)]);
    }
    expect(existsSync(trap)).toBe(false);
  });

  test("never touches PATH, however full of traps it is", async () => {
    const traps = join(place.base, "traps");
    const trap = join(place.base, "sprung");
    mkdirSync(traps);
    for (const name of ["fs.read", "ls", "tools", "sh", "bash", "stty", "ctx", "env"]) {
      writeFileSync(join(traps, name), `#!/bin/sh\necho ${name} >> ${trap}\n`, { mode: 0o755 });
    }
    const env = { PATH: `${traps}:${place.env["PATH"]}`, CTX_CONTROL_SOCKET: "/tmp/none.sock" };
    for (const name of ["fs.read", "ls", "sh", "bash", "no-such-tool"]) {
      const { exit, err } = await place.run(["tsh", name, "x"], { env });
      expect([name, exit, err]).toEqual([
        name,
        13,
        expect.stringContaining("not an agent's terminal"),
      ]);
    }
    const lines = await place.run(["tsh"], { env, input: "ls\nfs.read 'x y'\ntools\nls" });
    expect([lines.exit, lines.out]).toEqual([13, expect.stringContaining("fs.read")]);
    expect((await place.run(["tsh", "which", "ls"], { env })).exit).toBe(1);
    expect(existsSync(trap)).toBe(false);
  });
});

function refusedAt(text: string): unknown {
  try {
    return parseStartFile(text, ".tshrc");
  } catch (error) {
    return error instanceof CodedError ? error.place : error;
  }
}

describe("the other programs", () => {
  test("say their version and what they take", async () => {
    for (const program of ["tsh", "ctxterm", "ctxmcp"]) {
      expect((await place.run([program, "--version"])).out).toStartWith(`${program} 0.1.0 (`);
      expect((await place.run([program, "--help"])).out).toMatch(/^Examples?:$/m);
    }
    expect((await place.run(["ctxmcp", "list"])).exit).toBe(2);
  });

  test("agent.sh only maps its arguments onto ctx agent", async () => {
    const ctx = join(place.base, "programs/ctx");
    writeFileSync(ctx, '#!/bin/sh\nprintf "%s\\n" "$@"\n');
    const script = join(place.base, "programs/agent.sh");
    writeFileSync(script, await Bun.file(join(import.meta.dir, "../agent.sh")).text());
    chmodSync(script, 0o755);
    const said = (...argv: string[]) =>
      Bun.spawnSync([script, ...argv])
        .stdout.toString()
        .trim()
        .split("\n");
    expect(said("coder")).toEqual(["agent", "chat", "coder", "--session", "default"]);
    expect(said("coder", "a b", "-c")).toEqual([
      "agent",
      "send",
      "coder",
      "--session",
      "default",
      "--",
      "a b",
      "-c",
    ]);
    expect(said("--watch", "coder")).toEqual(["agent", "watch", "coder", "--session", "default"]);
    expect(said("--attach", "coder")).toEqual(["agent", "attach", "coder", "--session", "default"]);
    expect(Bun.spawnSync([script]).exitCode).toBe(2);
    // Beside the sources lies a folder of that name; then the ctx on PATH is meant.
    const PATH = `${join(place.base, "programs")}:${place.env["PATH"]}`;
    const source = join(import.meta.dir, "../agent.sh");
    const { stdout } = Bun.spawnSync(["/bin/sh", source, "coder"], { env: { PATH } });
    expect(stdout.toString()).toStartWith("agent\nchat\ncoder\n");
  });
});
