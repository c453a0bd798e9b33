// `ctx auth` without a terminal: where a key comes from, what is said, and what is never said again.

import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readServerPin, writeServerPin } from "../../internal/secret/mod.ts";
import { Place } from "../../testdata/cli/program.ts";

setDefaultTimeout(120_000);

const place = new Place();
const secrets = place.env["CTX_SECRETS_DIR"] as string;
const places = { secrets, uid: process.getuid?.() ?? 0 };
const key = "sk-sesame-55aa";
afterAll(() => place.remove());
afterEach(() => rmSync(secrets, { recursive: true, force: true }));

const auth = (words: readonly string[], input?: string, env: Record<string, string> = {}) =>
  place.run(["ctx", "auth", ...words], { env, ...(input === undefined ? {} : { input }) });
const stored = (path = "provider/acme/default") => {
  const file = join(secrets, path);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
};

describe("ctx auth login", () => {
  test("stores what standard input has, without one line break at its end", async () => {
    const first = await auth(["login", "acme"], `${key}\r\n`);
    expect([first.exit, first.out]).toEqual([
      0,
      `stored the key of provider "acme", in ${secrets}\n`,
    ]);
    expect(first.err).toContain("no file in ");
    expect(stored()).toBe(`${key}\n`);
    const again = await auth(["login", "acme", "--json"], "another");
    expect(JSON.parse(again.out)).toMatchObject({
      provider: "acme",
      slot: "default",
      replaced: true,
    });
    expect(stored()).toBe("another\n");
  });

  test("takes a variable of the environment once, and leaves standard input alone", async () => {
    const words = ["login", "acme", "--slot", "work", "--from-env", "HELD"];
    expect((await auth(words, "from input", { HELD: key })).exit).toBe(0);
    expect(stored("provider/acme/work")).toBe(`${key}\n`);
  });

  test("says nothing about a provider that a file describes", async () => {
    const folder = join(place.env["CTX_CONFIG_DIR"] as string, "providers.d");
    mkdirSync(folder, { recursive: true });
    const text = JSON.stringify({ name: "acme", base_url: "http://127.0.0.1:1/v1" });
    writeFileSync(join(folder, "acme.json"), text, { mode: 0o644 });
    expect(await auth(["login", "acme"], key)).toMatchObject({ exit: 0, err: "" });
    rmSync(folder, { recursive: true });
  });

  test("of a server's value accepts its entry as it is next, and says so when there was one", async () => {
    const login = ["login", "mcp/github/TOKEN"];
    const first = await auth([...login, "--json"], key);
    expect(JSON.parse(first.out)).toEqual({
      ...{ kind: "mcp", server: "github", variable: "TOKEN", stored: true },
      ...{ replaced: false, accepts_changed_entry: false },
    });
    writeServerPin(places, "github", "a".repeat(64));
    const second = await auth(login, key);
    expect(second.out).toContain("they are given to the entry as it is at its next use");
    expect(readServerPin(places, "github")).toBeUndefined();
    writeServerPin(places, "github", "b".repeat(64));
    const third = await auth(["login", "mcp/github/OTHER", "--json"], key);
    expect(JSON.parse(third.out)).toMatchObject({ replaced: false, accepts_changed_entry: true });
  });

  test.each<[string, string[], string | undefined, string, string]>([
    ["nothing", ["acme"], "", "EINVAL", 'the key of provider "acme" is empty'],
    ["a line break alone", ["acme"], "\n", "EINVAL", "is empty"],
    ["no input", ["acme"], undefined, "EINVAL", "is empty"],
    ["too much", ["acme"], `${key}${"x".repeat(65_536)}`, "EMSGSIZE", "is larger than 65536 bytes"],
    ["far too much", ["acme"], `${key}${"x".repeat(9_000_000)}`, "EMSGSIZE", "is larger than"],
    ["two lines for a provider", ["acme"], `${key}\n${key}\n`, "EINVAL", "holds a line break"],
    ["a NUL", ["mcp/a/B"], `${key}\0`, "EINVAL", "holds a NUL byte"],
    ["a variable that is not set", ["acme", "--from-env", key], key, "EINVAL", "is not set"],
    ["a key as an argument", ["acme", key], undefined, "EINVAL", "a key is never an argument"],
    ["a key after dashes", ["acme", "--", key], undefined, "EINVAL", "a key is never an argument"],
    ["a key as an option", ["acme", `--key=${key}`], undefined, "EINVAL", "unknown option"],
    ["a key as another one", ["acme", `-k${key}`], undefined, "EINVAL", "unknown option"],
    [
      "a long key for a target",
      [`${key}${"x".repeat(64)}`],
      "x",
      "EINVAL",
      "the target is no provider",
    ],
    ["what is no variable", ["mcp/github/A-B"], "x", "EINVAL", "the target is no provider"],
    ["a way out of the store", ["mcp/../TOKEN"], "x", "EINVAL", "the target is no provider"],
    ["a server alone", ["mcp/github"], "x", "EINVAL", "the target is no provider"],
    [
      "a slot of a server",
      ["mcp/a/B", "--slot", "x"],
      "x",
      "EINVAL",
      "--slot is of a provider's key",
    ],
    ["a slot that is no name", ["acme", "--slot", `../${key}`], "x", "EINVAL", "slot is not valid"],
  ])("refuses %s and repeats none of it", async (_name, words, input, code, message) => {
    const { exit, out, err } = await auth(["login", ...words], input);
    expect([exit, out]).toEqual([2, ""]);
    expect(err).toContain(message);
    expect(err).toContain(`[${code}]`);
    expect(err).not.toContain("sesame");
    expect(existsSync(join(secrets, "provider"))).toBe(false);
  });

  test("refuses a store that others could read, and a file of it", async () => {
    await auth(["login", "acme"], key);
    for (const [path, wrong, right] of [
      ["provider/acme/default", 0o640, 0o600],
      ["provider", 0o750, 0o700],
      ["", 0o755, 0o700],
    ] as const) {
      chmodSync(join(secrets, path), wrong);
      const { exit, out, err } = await auth(["login", "acme"], "another");
      expect([exit, out]).toEqual([13, ""]);
      expect(err).toContain(`"${join(secrets, path)}": it is open to others`);
      expect(err).toContain("chmod 0");
      chmodSync(join(secrets, path), right);
    }
    expect(stored()).toBe(`${key}\n`);
  });

  test("replaces one that is worth nothing", async () => {
    await auth(["login", "acme"], key);
    writeFileSync(join(secrets, "provider/acme/default"), "");
    expect((await auth(["login", "acme"], key)).out).toContain("replaced the key");
    expect(stored()).toBe(`${key}\n`);
  });
});

describe("ctx auth status", () => {
  test("of an empty store says so, and a target that has nothing is ENOENT", async () => {
    expect(await auth(["status"])).toEqual({
      exit: 0,
      out: `nothing is stored in ${secrets}\n`,
      err: "",
    });
    expect(await auth(["status", "--json"])).toEqual({ exit: 0, out: "", err: "" });
    for (const target of ["acme", "mcp/github", "mcp/github/TOKEN"]) {
      const { exit, err } = await auth(["status", target]);
      expect([exit, err]).toEqual([1, expect.stringContaining(`nothing is stored for ${target}`)]);
    }
  });

  test("names what is there and which file is refused, with what to do", async () => {
    for (const target of ["acme", "mcp/github/TOKEN", "mcp/github/OTHER"]) {
      await auth(["login", target], key);
    }
    await auth(["login", "acme", "--slot", "work"], key);
    chmodSync(join(secrets, "provider/acme/work"), 0o604);
    const { exit, out, err } = await auth(["status"]);
    expect(exit).toBe(13);
    expect(out).toBe(
      "provider acme  slot default\nserver github  variable OTHER\nserver github  variable TOKEN\n",
    );
    expect(err).toMatch(
      /^ctx: cannot use secret ".*acme\/work": .*\(mode 0604\) \[EACCES\]\n {2}hint: /,
    );
    const { out: json } = await auth(["status", "acme", "--json"]);
    const lines = json.trim().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { ok: true, kind: "provider", provider: "acme", slot: "default" },
      { ok: false, code: "EACCES", hint: expect.stringContaining("chmod 0600") },
    ]);
    expect((await auth(["status", "mcp/github/TOKEN"])).out).toBe(
      "server github  variable TOKEN\n",
    );
    expect(out + err + json).not.toContain("sesame");
  });
});

test("ctx auth logout removes one, and ENOENT when there is none", async () => {
  for (const target of ["acme", "mcp/github/TOKEN"]) {
    await auth(["login", target], key);
    const { exit, out } = await auth(["logout", target]);
    expect([exit, out]).toEqual([0, expect.stringMatching(/^removed the (key|value) of /)]);
    const again = await auth(["logout", target]);
    expect([again.exit, again.err]).toEqual([1, expect.stringContaining("is stored [ENOENT]")]);
  }
  expect(stored()).toBeUndefined();
});
