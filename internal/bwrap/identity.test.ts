// Whoever changes the identity on the way to a sandbox, setpriv or the spawn itself, its programs have
// the same one, and nothing of the server's.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hostProgram } from "./programs.ts";
import { bubblewrapAs } from "./setpriv.ts";

const script = new URL("../../testdata/sandbox/identity-seen.ts", import.meta.url).pathname;
const uid = 61184;
const serverGroups = [4, 27];

const missing =
  process.getuid?.() !== 0
    ? "only root can become somebody else"
    : hostProgram("bwrap") === undefined
      ? "bubblewrap is not installed"
      : undefined;
if (missing !== undefined) console.log(`SKIP identities of sandboxes: ${missing}`);

type Facts = Record<string, string>;
type Seen = Record<"inside" | "outside" | "outer", Facts>;

describe.skipIf(missing !== undefined)("the identity of a sandbox", () => {
  let base = "";
  beforeAll(() => {
    base = mkdtempSync("/tmp/ctx-identity-");
    chmodSync(base, 0o755);
    for (const name of ["etc", "ctx", "work"]) mkdirSync(join(base, name));
  });
  afterAll(() => rmSync(base, { recursive: true, force: true }));

  test("is the agent's alone, without setpriv as with it", async () => {
    const server = ["setpriv", "--groups", serverGroups.join(), process.execPath];
    const child = Bun.spawn([...server, script, base, String(uid)], { stderr: "inherit" });
    const { without, withOne } = JSON.parse(await new Response(child.stdout).text()) as {
      without: Seen;
      withOne: Seen;
    };
    const none = "0000000000000000";
    const capabilities = { CapInh: none, CapPrm: none, CapEff: none, CapBnd: none, CapAmb: none };
    const ids = { Uid: Array(4).fill(uid).join("\t"), Gid: Array(4).fill(uid).join("\t") };
    const held = { ...ids, Groups: "", ...capabilities, NoNewPrivs: "1", Seccomp: "2" };
    expect(without.inside).toEqual(held);
    for (const place of ["inside", "outside", "outer"] as const) {
      expect(without[place]).toMatchObject({ ...ids, Groups: "", NoNewPrivs: "1" });
      expect<Facts>({ ...withOne[place], Groups: "" }).toEqual(without[place]);
    }
    expect(withOne.outside["Groups"]).toBe(String(uid));
  });

  test("is setpriv's work where groups are kept, and where bubblewrap would gain privileges", () => {
    const program = join(base, "bwrap");
    writeFileSync(program, "");
    chmodSync(program, 0o755);
    const identity = { uid, gid: uid, groups: [] };
    expect(bubblewrapAs(identity, program)).toEqual({ argv: [program], become: { uid, gid: uid } });
    expect(bubblewrapAs(undefined, program)).toEqual({ argv: [program], become: {} });
    const through = (groups: readonly number[]) => bubblewrapAs({ ...identity, groups }, program);
    const setpriv = hostProgram("setpriv") ?? "";
    expect(through([4])).toMatchObject({
      argv: expect.arrayContaining([setpriv, "--groups"]),
      become: {},
    });
    for (const mode of [0o4755, 0o2755]) {
      chmodSync(program, mode);
      const { argv, become } = through([]);
      expect(argv).toEqual(
        expect.arrayContaining([setpriv, "--clear-groups", "--no-new-privs", program]),
      );
      expect(become).toEqual({});
    }
  });
});
