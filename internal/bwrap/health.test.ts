import { describe, expect, test } from "bun:test";
import { isPidMaxPrivate } from "./adjust.ts";
import { explainFailure, sandboxHealth } from "./health.ts";
import type { HostProgram } from "./programs.ts";

/** A host that lacks these programs and has these kernel settings. */
function host(missing: readonly HostProgram[], settings: Readonly<Record<string, string>> = {}) {
  return {
    program: (name: HostProgram) => (missing.includes(name) ? undefined : `/usr/bin/${name}`),
    setting: (file: string) => settings[file] ?? "",
  };
}

describe("sandboxHealth()", () => {
  test("finds nothing on a healthy host", () => {
    expect(sandboxHealth(host([], { "/proc/sys/user/max_user_namespaces": "9000" }))).toEqual([]);
  });

  test("names the Debian package of a missing bubblewrap", () => {
    expect(sandboxHealth(host(["bwrap"]))).toEqual([
      {
        level: "broken",
        problem: "bubblewrap (bwrap) is not installed",
        fix: "apt-get install bubblewrap",
      },
    ]);
  });

  const settings: readonly (readonly [string, string, string])[] = [
    ["/proc/sys/kernel/unprivileged_userns_clone", "0", "unprivileged_userns_clone is 0"],
    ["/proc/sys/user/max_user_namespaces", "0", "max_user_namespaces is 0"],
    ["/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "AppArmor restricts"],
  ];
  for (const [file, value, words] of settings) {
    test(`says what to do when ${file} is ${value}`, () => {
      const [finding, ...rest] = sandboxHealth(host([], { [file]: value }));
      expect(rest).toEqual([]);
      expect(finding).toMatchObject({ level: "broken", problem: expect.stringContaining(words) });
      expect(finding?.fix).toMatch(/sysctl/);
    });
  }

  test("a missing network program limits and breaks nothing", () => {
    const findings = sandboxHealth(host(["pasta", "slirp4netns"]));
    expect(findings.map(({ level, fix }) => [level, fix])).toEqual([
      ["limited", "apt-get install passt"],
    ]);
    expect(sandboxHealth(host(["pasta"]))).toEqual([]);
  });
});

describe("explainFailure()", () => {
  test("keeps bubblewrap's reason and gives it a code", () => {
    const error = explainFailure(1, "bwrap: Can't find source path /x: Permission denied");
    expect(error.code).toBe("EACCES");
    expect(error.message).toBe(
      "cannot make a sandbox: Can't find source path /x: Permission denied",
    );
  });

  test("says what a /proc that is partly masked means", () => {
    const words = "bwrap: Can't mount proc on /newroot/proc: Operation not permitted";
    expect(explainFailure(1, words)).toMatchObject({
      code: "EHOSTDOWN",
      hint: expect.stringContaining("masks parts of /proc"),
    });
  });
});

test("kernel.pid_max is private to a namespace from 6.14 on", () => {
  const releases = ["5.10.0-8-amd64", "6.1.0", "6.13.9", "6.14.0-rc1", "6.18.44", "7.0", "odd"];
  expect(releases.filter(isPidMaxPrivate)).toEqual(["6.14.0-rc1", "6.18.44", "7.0"]);
});
