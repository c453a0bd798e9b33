// What a real systemd does with the transient units of the supervisor: identity, environment, words of
// the command line, stop with everything that it left behind, and hands off what is another's.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { Booted } from "./booted.ts";

setDefaultTimeout(120_000);

const top = resolve(import.meta.dir, "../..");
const driver = new URL("./drive.ts", import.meta.url).pathname;

/** Not of systemd's range for dynamic users, whose lines the journal keeps to itself. */
const user = 20_911;
const other = 20_912;
const account = { name: "ctxuser", uid: user };
const further = { name: "ctxother", uid: other };
/** A group that the account of `other` is in and its agent is not. */
const accountGroup = 20_950;
const agentGroup = 20_951;

let systemd: Booted | string = "not booted";
beforeAll(async () => {
  systemd = await Booted.boot({
    accounts: [account, further],
    groups: { ctxextra: { gid: accountGroup, members: [further.name] } },
    managers: [user],
    folders: {
      "/checkout": top,
      "/bun": dirname(process.execPath),
    },
  });
});
afterAll(async () => {
  if (typeof systemd !== "string") await systemd.end();
});

/** The booted one, or nothing after the line that says why there is none. */
function there(): Booted | undefined {
  if (typeof systemd !== "string") return systemd;
  console.log(`SKIP units of a real systemd: ${systemd}`);
  return undefined;
}

interface Answer {
  readonly [name: string]: unknown;
}

async function drive(
  booted: Booted,
  request: object,
  as: { uid?: number; env?: Record<string, string> } = { uid: user },
): Promise<Answer> {
  const bun = `/bun/${process.execPath.slice(dirname(process.execPath).length + 1)}`;
  const argv = [bun, `/checkout${driver.slice(top.length)}`, JSON.stringify(request)];
  const env = { BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0", ...as.env };
  const done = await booted.run(argv, { ...as, env });
  if (done.exit !== 0) throw new Error(`${done.stdout}${done.stderr}`);
  return JSON.parse(done.stdout) as Answer;
}

let count = 0;

function specOf(argv: readonly string[], more: object = {}) {
  count += 1;
  const generation = `${count}`.padStart(32, "0");
  return {
    generation,
    spec: {
      argv,
      uid: user,
      gid: user,
      groups: [] as number[],
      unit: `ctx-test-${generation}`,
      description: "A test's 100% of $HOME",
      limits: {},
      ...more,
    },
  };
}

/** Host pids whose command line has the word. */
function withWord(word: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(word);
      } catch {
        return false;
      }
    })
    .map(Number);
}

async function eventually(holds: () => boolean | Promise<boolean>): Promise<boolean> {
  for (let look = 0; look < 500; look += 1) {
    if (await holds()) return true;
    await Bun.sleep(20);
  }
  return false;
}

describe("a manager", () => {
  test("of the user answers by the user's own environment alone", async () => {
    const booted = there();
    if (!booted) return;
    expect(await drive(booted, { do: "find" })).toMatchObject({
      ok: true,
      place: { scope: "user", uid: user, socket: `/run/user/${user}/systemd/private` },
    });
    expect(
      await drive(booted, { do: "find" }, { uid: user, env: { XDG_RUNTIME_DIR: "" } }),
    ).toEqual({ ok: false, reason: "XDG_RUNTIME_DIR is not set" });
    // A user without a login has no manager, and another's is not theirs.
    const reasons: unknown[] = [];
    for (const runtime of [other, user].map((uid) => `/run/user/${uid}`)) {
      const env = { XDG_RUNTIME_DIR: runtime };
      reasons.push((await drive(booted, { do: "find" }, { uid: other, env }))["ok"]);
    }
    expect(reasons).toEqual([false, false]);
  });

  test("of the system answers to root", async () => {
    const booted = there();
    if (!booted) return;
    expect(await drive(booted, { do: "find" }, {})).toMatchObject({
      ok: true,
      place: { scope: "system", uid: 0 },
    });
  });
});

describe("a unit of a user's manager", () => {
  test("gets every word as it is, and no environment but PATH", async () => {
    const booted = there();
    if (!booted) return;
    const imported = ["systemctl", "--user", "set-environment", "SECRET=imported"];
    expect((await booted.run(imported, { uid: user })).exit).toBe(0);
    const words = [
      "$HOME",
      `$${"{HOME}"}`,
      "$$",
      "%h %n",
      "a b",
      `'"\\`,
      "-x",
      "new\nline",
      ";",
      "",
    ];
    const code = [
      "const { readFileSync } = require('fs');",
      "const env = readFileSync('/proc/self/environ', 'utf8');",
      "const facts = [process.argv.slice(2), env, process.cwd(), process.umask()];",
      "console.error(JSON.stringify(facts));",
    ].join("\n");
    const bun = `/bun/${process.execPath.split("/").at(-1)}`;
    const file = "/tmp/said.cjs";
    await Bun.write(booted.outside(file), code);
    const { spec } = specOf([bun, file, ...words]);
    const answer = await drive(booted, { do: "start", spec, words: true });
    const [argv, env, cwd, umask] = JSON.parse(String(answer["words"])) as unknown[];
    expect(argv).toEqual(words);
    expect(env).toBe("PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin\0");
    expect([cwd, umask]).toEqual(["/", 0o077]);
  });

  test("is told with its invocation and process, lives, and is stopped with all that it left", async () => {
    const booted = there();
    if (!booted) return;
    // Two daemons by the book, out of session and parent, of which one is deaf to polite signals.
    const daemon =
      "(setsid sh -c 'sleep 98761 & :' &) ; (setsid sh -c 'trap \"\" TERM; exec sleep 98762' &)";
    const { spec, generation } = specOf(["sh", "-c", `${daemon}; exec sleep 98763`]);
    const started = await drive(booted, { do: "start", spec });
    const { unit, invocation } = started;
    expect(started).toEqual({
      unit: `${spec.unit}.service`,
      invocation: expect.stringMatching(/^[0-9a-f]{32}$/),
      pid: expect.any(Number),
    });
    const all = () => ["98761", "98762", "98763"].flatMap(withWord);
    expect(await eventually(() => all().length === 3)).toBe(true);
    const receipt = { unit, invocation, generation };
    expect(await drive(booted, { do: "alive", receipt })).toBe(true as never);
    expect(await drive(booted, { do: "stop", receipt })).toEqual({ orphans: [] });
    expect(all()).toEqual([]);
    expect(await drive(booted, { do: "alive", receipt })).toBe(false as never);
    // A second time there is nothing to do.
    expect(await drive(booted, { do: "stop", receipt })).toEqual({ orphans: [] });
  });

  test("of another invocation is neither alive for a receipt nor stopped by it", async () => {
    const booted = there();
    if (!booted) return;
    const { spec, generation } = specOf(["sleep", "98764"]);
    const { unit, invocation } = await drive(booted, { do: "start", spec });
    const foreign = { unit, invocation: "f".repeat(32), generation };
    expect(await drive(booted, { do: "alive", receipt: foreign })).toBe(false as never);
    expect(await drive(booted, { do: "stop", receipt: foreign })).toEqual({ orphans: [] });
    // Without an invocation the name must hold the generation.
    const nameless = { unit, generation: "e".repeat(32) };
    expect(await drive(booted, { do: "stop", receipt: nameless })).toEqual({ orphans: [] });
    expect(withWord("98764")).toHaveLength(1);
    // Of a start that was cut before its unit was known.
    const ours = { generation };
    expect(await drive(booted, { do: "alive", receipt: ours })).toBe(true as never);
    expect(await drive(booted, { do: "stop", receipt: ours })).toEqual({ orphans: [] });
    expect(withWord("98764")).toEqual([]);
    expect(invocation).toEqual(expect.any(String));
  });

  test("that ends at once tells what it said, and one that has no program fails", async () => {
    const booted = there();
    if (!booted) return;
    const { spec } = specOf(["sh", "-c", "echo cannot do it >&2; exit 3"]);
    const answer = await drive(booted, { do: "start", spec, words: true });
    expect(answer["words"]).toContain("cannot do it");
    const foreign = specOf(["true"], { uid: other }).spec;
    expect(await drive(booted, { do: "start", spec: foreign })).toMatchObject({ code: "EACCES" });
    const twice = specOf(["sleep", "98765"]).spec;
    await drive(booted, { do: "start", spec: twice });
    expect(await drive(booted, { do: "start", spec: twice })).toMatchObject({ code: "EHOSTDOWN" });
  });
});

test("a unit of the system is the agent's uid, gid and groups, no more, without capabilities", async () => {
  const booted = there();
  if (!booted) return;
  const looks: unknown[] = [];
  for (const groups of [[], [agentGroup]]) {
    const shown = ["sh", "-c", "grep -E '^(Uid|Groups|Cap|SigIgn)' /proc/self/status >&2"];
    const { spec } = specOf(shown, { uid: other, gid: other, groups });
    const { words } = await drive(booted, { do: "start", spec, words: true }, {});
    const field = (name: string) =>
      new RegExp(`^${name}:[ \\t]*(.*)$`, "m").exec(String(words))?.[1]?.trim().split(/\s+/);
    looks.push(["Uid", "Groups", "CapPrm", "CapInh", "CapAmb"].map(field));
    // Signals 32 and 33 are the C library's own: whoever booted this system may have left them ignored.
    expect(Number.parseInt(field("SigIgn")?.[0] ?? "", 16) & 0x7fff_ffff).toBe(0);
  }
  const none = ["0".repeat(16)];
  const ids = Array.from({ length: 4 }, () => String(other));
  expect(looks).toEqual([
    [ids, [""], none, none, none],
    [ids, [String(agentGroup)], none, none, none],
  ]);
});
