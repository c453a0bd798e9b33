// A person gives keys to the compiled `ctx`, in pseudo-terminals with a shell around it: what is seen,
// what is stored, and how the terminal is left.

import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { PromptPerson } from "./prompt-person.ts";
import { skipsWithout } from "./terminal-start-world.ts";
import { UserWorld } from "./user-world.ts";
import { isRoot, World } from "./world.ts";

const slowMs = 60_000;
const value = "sk-sesame-8d21f0c4";
const worlds: World[] = [];
const people: PromptPerson[] = [];
let world: World;

beforeEach(() => {
  world = new World();
  worlds.push(world);
});
afterEach(() => {
  for (const person of people.splice(0)) person.leave();
});
afterAll(async () => {
  for (const one of worlds) await one.destroy();
});

const withoutBash = skipsWithout("a person at a prompt with bash and stty", "bash", "stty");

function stored(path = "provider/acme/default"): string | undefined {
  const file = join(world.base, "secrets", path);
  if (!existsSync(file)) return undefined;
  expect(statSync(file).mode & 0o777).toBe(0o600);
  return readFileSync(file, "utf8");
}

/** Where any process of the machine says `text` in its arguments or its environment. */
function saying(text: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .flatMap((pid) => [`/proc/${pid}/cmdline`, `/proc/${pid}/environ`])
    .filter((path) => {
      try {
        return readFileSync(path, "latin1").includes(text);
      } catch {
        return false;
      }
    });
}

/** `ctx …` with a terminal. */
function begin(words: readonly string[], redirect?: string): PromptPerson {
  const person = new PromptPerson(world, words, redirect);
  people.push(person);
  return person;
}

describe.skipIf(withoutBash)("at the prompt of ctx auth login", () => {
  test(
    "a key is typed, mended and stored, and nobody sees it",
    async () => {
      const person = begin(["auth", "login", "acme"]);
      await person.sees('key of provider "acme" (not shown, Enter ends it): ');
      await person.type(`wrong\x15${value}X`);
      await person.type("\x7f\x1a");
      expect(saying(value)).toEqual([]);
      // The search finds what is there.
      const child = Bun.spawn(["sleep", "60"], { env: { SEEN: "seen-by-the-search" } });
      await person.until(() => saying("seen-by-the-search").length > 0, "the search");
      child.kill();
      await person.type("\rrm -rf everything\r");
      await person.sees("ended with 0");
      await person.goesOn();
      expect(stored()).toBe(`${value}\n`);
      expect(person.screen).toContain('stored the key of provider "acme"');
      for (const text of [value, "sesame", "wrong", "rm -rf"]) {
        expect(person.screen).not.toContain(text);
      }
    },
    slowMs,
  );

  test(
    "a paste is taken whole, also one that is long or has lines",
    async () => {
      const long = begin(["auth", "login", "acme", "--slot", "long"]);
      await long.sees("(not shown");
      await long.type(`${"k".repeat(60_000)}\r`);
      await long.sees("ended with 0");
      await long.goesOn();
      expect(stored("provider/acme/long")).toBe(`${"k".repeat(60_000)}\n`);
      expect(long.screen).not.toContain("kkk");
      const lines = begin(["auth", "login", "mcp/github/PEM"]);
      await lines.sees("\x1b[?2004h");
      await lines.type(`\x1b[200~-----BEGIN-----\r${value}\r-----END-----\r\x1b[201~`);
      await lines.type("\r");
      await lines.sees("ended with 0");
      await lines.goesOn();
      expect(stored("mcp/github/PEM")).toBe(`-----BEGIN-----\n${value}\n-----END-----\n`);
      expect(lines.screen).toContain("\x1b[?2004l");
      expect(lines.screen).not.toContain("BEGIN");
    },
    slowMs,
  );

  test(
    "too much and nothing are refused",
    async () => {
      const much = begin(["auth", "login", "acme"]);
      await much.sees("(not shown");
      await much.type(`${"k".repeat(70_000)}\r`);
      await much.sees("ended with 2");
      expect(much.screen).toContain("is larger than 65536 bytes [EMSGSIZE]");
      const none = begin(["auth", "login", "acme"]);
      await none.sees("(not shown");
      await none.type("\r");
      await none.sees("ended with 2");
      expect(none.screen).toContain('the key of provider "acme" is empty [EINVAL]');
      const two = begin(["auth", "login", "acme"]);
      await two.sees("\x1b[?2004h");
      await two.type(`\x1b[200~${value}\rsecond\x1b[201~\r`);
      await two.sees("ended with 2");
      expect(two.screen).toContain("holds a line break");
      for (const person of [much, none, two]) await person.goesOn();
      expect(stored()).toBeUndefined();
    },
    slowMs,
  );

  test(
    "Ctrl-C stores nothing, leaves with 130 and the terminal as it was",
    async () => {
      const person = begin(["auth", "login", "acme"]);
      await person.sees("(not shown");
      await person.type(`${value}\x03`);
      await person.sees("ended with 130");
      await person.goesOn();
      expect(stored()).toBeUndefined();
      expect(person.screen).not.toContain("sesame");
    },
    slowMs,
  );

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
    ["SIGQUIT", 131],
    ["SIGKILL", 137],
  ] as const)(
    "%s leaves the terminal as it was",
    async (signal, status) => {
      const person = begin(["auth", "login", "acme"]);
      await person.sees("(not shown");
      expect(person.stty("-a")).toContain("-echo ");
      await person.typeRead(value);
      process.kill(person.program, signal);
      await person.sees(`ended with ${status}`);
      await person.goesOn();
      expect(stored()).toBeUndefined();
      expect(person.screen).not.toContain("sesame");
    },
    slowMs,
  );

  test(
    "after a stop it still shows nothing, whatever modes it comes back to",
    async () => {
      const person = begin(["auth", "login", "acme"]);
      await person.sees("(not shown");
      process.kill(person.program, "SIGSTOP");
      person.stty("sane");
      expect(person.stty("-a")).toMatch(/ echo /);
      process.kill(person.program, "SIGCONT");
      await person.until(
        () => person.stty("-a").includes("-echo "),
        "the terminal to show nothing",
      );
      await person.type(`${value}\r`);
      await person.sees("ended with 0");
      expect(stored()).toBe(`${value}\n`);
      expect(person.screen).not.toContain("sesame");
    },
    slowMs,
  );

  test(
    "the question comes to the terminal when output and errors go to files",
    async () => {
      const person = begin(["auth", "login", "acme", "--json"], "> out 2> err");
      await person.sees('key of provider "acme"');
      await person.type(`${value}\r`);
      await person.sees("ended with 0");
      await person.goesOn();
      const facts = { kind: "provider", provider: "acme", slot: "default" };
      expect(JSON.parse(readFileSync(join(world.base, "out"), "utf8"))).toEqual({
        ...facts,
        stored: true,
        replaced: false,
      });
      expect(stored()).toBe(`${value}\n`);
    },
    slowMs,
  );
});

describe("a store", () => {
  const needsRoot = isRoot ? "" : "the stores of two users need root";
  if (needsRoot !== "") console.log(`SKIP a store of somebody else: ${needsRoot}`);

  test.skipIf(needsRoot !== "")(
    "of another user is refused to each, and nothing is asked or changed",
    async () => {
      const theirs = new UserWorld();
      worlds.push(theirs);
      const input = `${value}\n`;
      const made = await theirs.run(["ctx", "auth", "login", "acme"], { input });
      expect([made.exit, made.stdout]).toEqual([0, expect.stringContaining("stored the key")]);
      const file = join(theirs.base, "secrets/provider/acme/default");
      expect([statSync(file).uid, statSync(file).mode & 0o777]).toEqual([theirs.uid, 0o600]);
      const asRoot = { env: { CTX_SECRETS_DIR: join(theirs.base, "secrets") }, input: "other\n" };
      const asUser = { env: { CTX_SECRETS_DIR: join(world.base, "secrets") }, input: "other\n" };
      for (const words of [
        ["status"],
        ["login", "acme"],
        ["login", "mcp/a/B"],
        ["logout", "acme"],
      ]) {
        for (const [where, options] of [
          [world, asRoot],
          [theirs, asUser],
        ] as const) {
          const ended = await where.run(["ctx", "auth", ...words], options);
          expect([words, ended.exit, ended.stdout]).toEqual([words, 13, ""]);
          expect(ended.stderr).toMatch(/secrets": it belongs to uid \d+, not to \d+ \[EACCES\]\n/);
        }
      }
      expect(readFileSync(file, "utf8")).toBe(input);
      expect(readdirSync(join(world.base, "secrets"))).toEqual([]);
    },
    slowMs,
  );

  test(
    "lists names and no value, and names the file that others could read",
    async () => {
      const env = { HELD_KEY: value };
      const login = (...words: string[]) => world.run(["ctx", "auth", "login", ...words], { env });
      const said = [
        await login("acme", "--from-env", "HELD_KEY"),
        await login("mcp/github/TOKEN", "--from-env", "HELD_KEY", "--json"),
        await world.run(["ctx", "auth", "status"]),
        await world.run(["ctx", "auth", "status", "--json"]),
        await world.run(["ctx", "doctor"]),
      ];
      expect(said.map(({ exit }) => exit).slice(0, 4)).toEqual([0, 0, 0, 0]);
      expect(said[2]?.stdout).toBe("provider acme  slot default\nserver github  variable TOKEN\n");
      expect(JSON.stringify(said)).not.toContain("sesame");
      expect(stored()).toBe(`${value}\n`);
    },
    slowMs,
  );
});
