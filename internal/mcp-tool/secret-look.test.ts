import { expect, test } from "bun:test";
import { secretLooking } from "./mod.ts";

const look = (env: Record<string, string>, args: readonly string[] = []) =>
  secretLooking({ command: "x", args, env });

test.each<[Record<string, string>, readonly string[], readonly string[]]>([
  [{ GITHUB_TOKEN: "abcdef123456" }, [], ["env.GITHUB_TOKEN"]],
  [
    { GITHUB_PERSONAL_ACCESS_TOKEN: `ghp_${"a".repeat(30)}` },
    [],
    ["env.GITHUB_PERSONAL_ACCESS_TOKEN"],
  ],
  [{ NAME: `sk-${"a1".repeat(12)}` }, [], ["env.NAME"]],
  [{ URL: "postgres://me:hunter22@db/x" }, [], ["env.URL"]],
  [{}, ["--api-key", "abcdef123456"], ["args[1]"]],
  [{}, ["--token=abcdef123456"], ["args[0]"]],
  [{}, ["-H", "Authorization: Bearer abcdefgh1"], ["args[1]"]],
  [
    { GITHUB_TOKEN: "${GITHUB_TOKEN}", AUTH: "none", KEY_FILE: "/run/key", TOKENS_MAX: "4096" },
    [],
    [],
  ],
  [
    { PATH: "/bin", KEYBOARD: "german", LOG: "debug" },
    ["--verbose", "/work", "-y", "pkg@1.2.3"],
    [],
  ],
])("%j %j", (env, args, fields) => {
  expect(look(env, args)).toEqual([...fields]);
});
