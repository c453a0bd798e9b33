// What a person is told when a file or a folder is not as a command needs it: the action, the path,
// the reason in words, the code once, and what to do where there is something to do.

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { Place } from "../../testdata/cli/program.ts";

setDefaultTimeout(120_000);

const place = new Place();
beforeAll(() => place.bootstrap());
afterAll(() => place.remove());

const none = join(place.base, "none");

const reasons = [
  [["ls", "agent/coder"], 'ctx: cannot list "agent/coder": it is not a folder [EINVAL]'],
  [["ls", "agent/coder.d/perm/x"], /^ctx: cannot list ".*": a part of it is not a folder \[/],
  [["ls", "--source", none], `ctx: cannot find tree "${none}" [ENOENT]`],
  [["cat", "status", "--source", none], `ctx: cannot find tree "${none}" [ENOENT]`],
  [["cat", "nope"], 'ctx: cannot print "nope": it does not exist [ENOENT]'],
  [["policy", "check", "./nope"], 'ctx: cannot read "./nope": it does not exist [ENOENT]'],
  [
    ["policy", "check", "/dev/zero"],
    'ctx: cannot read "/dev/zero": it is not a regular file [EINVAL]',
  ],
  [
    ["agent", "send", "coder", "hi", "--workspace", ""],
    'ctx: cannot use workspace "": the path is empty [EINVAL]',
  ],
  [
    ["bootstrap", "/dev/null/tree", "--programs", join(place.base, "programs")],
    /^ctx: cannot make tree "\/dev\/null\/tree": not a directory, [a-z]+ .* \[ENOENT\]$/,
  ],
] as const;

for (const [argv, line] of reasons) {
  test(argv.join(" ").replace(place.base, ""), async () => {
    const { exit, out, err } = await place.ctx(...argv);
    expect([exit > 0, out]).toEqual([true, ""]);
    const first = err.split("\n")[0] ?? "";
    if (typeof line === "string") expect(first).toBe(line);
    else expect(first).toMatch(line);
  });
}

test("a full standard output is named, and is no success", async () => {
  const main = join(import.meta.dir, "main.ts");
  for (const command of ["ls", "--help", "doctor"]) {
    const script = `exec "$0" "$1" ${command} > /dev/full`;
    const child = Bun.spawn(["/bin/sh", "-c", script, process.execPath, main], {
      env: { ...place.env },
      stdout: "ignore",
      stderr: "pipe",
    });
    expect(await new Response(child.stderr).text()).toBe(
      "ctx: cannot write to standard output: no space left on device [ENOSPC]\n",
    );
    expect(await child.exited).toBe(70);
  }
});
