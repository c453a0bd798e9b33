// Argument lists as golden files, one argument a line where an option begins.

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { plainSpec } from "../../testdata/sandbox/plain-spec.ts";
import { bwrapArguments, encodeArguments } from "./bwrap-arguments.ts";
import type { SandboxSpec } from "./types.ts";

const descriptors = { block: 4, seccomp: 6, programs: 9 };

const specs: Readonly<Record<string, SandboxSpec>> = {
  plain: plainSpec("/base"),
  "root-agent": plainSpec("/base", { maskProc: true, binds: [] }),
  workspace: plainSpec("/base", {
    programs: ["tool/fs.read", "model/debug/echo"].map((name) => ({
      view: `/ctx/${name}`,
      content: "#!/ctx/bin/ctx exec\n",
    })),
    binds: [
      { host: "/opt/ctx", view: "/ctx/bin/ctx", access: "ro" },
      { host: "/tree/home/1000/agent/coder", view: "/home/agent", access: "rw" },
      { host: "/tree/home/1000/agent/coder/session", view: "/home/agent/session", access: "ro" },
      { host: "/srv/project", view: "/workspace", access: "rw" },
      { host: "/srv/project/.git", view: "/workspace/.git", access: "ro" },
    ],
    env: new Map([
      ["HOME", "/home/agent"],
      ["LANG", "C.UTF-8"],
    ]),
    network: "granted",
  }),
};

describe("bwrapArguments()", () => {
  for (const [name, spec] of Object.entries(specs)) {
    test(`gives the arguments of testdata/sandbox/${name}.argv`, () => {
      const golden = new URL(`../../testdata/sandbox/${name}.argv`, import.meta.url);
      expect(lines(bwrapArguments(spec, descriptors))).toBe(readFileSync(golden, "utf8"));
    });

    test(`never shares the network nor names an identity (${name})`, () => {
      const list = bwrapArguments(spec, descriptors);
      for (const option of ["--share-net", "--uid", "--gid", "--cap-add", "--dev-bind"]) {
        expect(list).not.toContain(option);
      }
      expect(list.slice(0, 5)).toEqual([
        ...["--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL"],
      ]);
    });
  }

  test("makes the root read-only after every mount", () => {
    const list = bwrapArguments(specs["workspace"] as SandboxSpec, descriptors);
    const binds = ["--bind", "--ro-bind", "--ro-bind-data"];
    const last = Math.max(...binds.map((option) => list.lastIndexOf(option)));
    expect(list.indexOf("--remount-ro")).toBeGreaterThan(last);
  });
});

test("encodeArguments() ends each argument in a NUL, an empty one too", () => {
  expect(encodeArguments(["--dir", "", "ä"])).toEqual(new TextEncoder().encode("--dir\0\0ä\0"));
});

/** An option and its values on one line. */
function lines(list: readonly string[]): string {
  const text = list.map((item) => (item.startsWith("--") ? `\n${item}` : ` ${item}`)).join("");
  return `${text.slice(1)}\n`;
}
