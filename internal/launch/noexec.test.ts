// The programs of the view, run by their own paths inside a sandbox whose server has its runtime
// folder on a noexec mount, as /run of Debian is: a real one, in a mount namespace of the test's own.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  configurations,
  type DriverOutcome,
  runDriver,
  whyNot,
} from "../../testdata/sandbox/configurations.ts";
import { type Scene, toolOf } from "../../testdata/sandbox/scene.ts";

/** `sh -c SCRIPT sh FOLDER OWNER COMMAND…`; a program in the folder must not be executable. */
const mountScript = `
mount -t tmpfs -o "noexec,nosuid,nodev,mode=755,uid=$2,gid=$2" none "$1" || exit 99
printf '#!/bin/sh\\n' >"$1/probe"; chmod 755 "$1/probe"; "$1/probe" 2>/dev/null && exit 98
rm "$1/probe"; shift 2; exec "$@"`;
const inNamespace = ["unshare", "--mount", "sh", "-c", mountScript, "sh"];

function whyNoMount(): string | undefined {
  const tried = Bun.spawnSync([...inNamespace, "/mnt", "0", "true"], { stderr: "pipe" });
  if (tried.exitCode === 0) return whyNot();
  return `no noexec tmpfs can be mounted: ${tried.stderr.toString().trim()}`;
}
const missing = whyNoMount();
if (missing !== undefined) console.log(`SKIP a noexec runtime folder: ${missing}`);

const stat = "/ctx/tool/fs.stat";
const echo = "/ctx/model/debug/echo";

/** What is asked inside; each prints one line. */
const questions = {
  tool: `${stat} '{"path":"/"}'`,
  model: `${echo} hello`,
  "another tool": "/ctx/tool/fs.read x",
  text: `cat ${stat} ${echo}`,
  looks: `stat -c '%F %a %u' ${stat} ${echo} | sort -u`,
  writing: `for f in ${stat} ${echo}; do for do in 'printf x >' 'chmod 777' 'rm -f' 'mv /tmp/x'; do (eval "$do $f") 2>&1 | grep -o 'Read-only file system' || echo "$do $f"; done; done | sort -u`,
  descriptors: "ls /proc/$$/fd | tr '\\n' ' '; echo",
  unmounting: `for f in ${stat} ${echo}; do umount $f && echo "$f is gone"; done 2>/dev/null; echo over`,
} as const;

for (const configuration of configurations) {
  describe.skipIf(missing !== undefined)(`a noexec runtime folder (${configuration.name})`, () => {
    let scene: Scene;
    let outcome: DriverOutcome;
    const answers: string[] = [];
    beforeAll(async () => {
      scene = configuration.scene();
      // In place of `ctx`, and so the interpreter of every object: says what it was run as.
      const ctxBinary = join(scene.base, "ctx");
      writeFileSync(ctxBinary, '#!/bin/sh\nprintf "%s|" "$@"; echo\n');
      chmodSync(ctxBinary, 0o755);
      const visible = ["shell.exec", "fs.stat"].map((name) => toolOf(scene, name));
      const change = { visible, models: [{ viewPath: echo }] };
      const via = [...inNamespace, scene.runtime, String(scene.serverUid)];
      const parts = Object.values(questions).map((each) => `(${each}) 2>&1; echo "--"`);
      const more = { change, ctxBinary, via };
      outcome = await runDriver(
        configuration,
        scene,
        { cmd: `echo x >/tmp/x\n${parts.join("\n")}` },
        more,
      );
      answers.push(...outcome.output.split("--\n"));
    }, 60_000);
    afterAll(() => rmSync(scene.base, { recursive: true, force: true }));

    const expected = {
      tool: `exec|${stat}|{"path":"/"}|\n`,
      model: `exec|${echo}|hello|\n`,
      "another tool": expect.stringContaining("not found"),
      text:
        "#!/ctx/bin/ctx exec\n# class: tool\n# name: fs.stat\n# cap: exec\n" +
        "#!/ctx/bin/ctx exec\n# class: model\n# name: debug/echo\n",
      looks: `regular file 555 ${configuration.kernelUid}\n`,
      writing: "Read-only file system\n",
      descriptors: "0 1 2 \n",
      unmounting: "over\n",
    } satisfies Record<keyof typeof questions, unknown>;

    test("the command ran to its end", () => {
      expect(outcome).toMatchObject({ status: "ok", exit: 0 });
    });

    for (const [index, [name, what]] of Object.entries(expected).entries()) {
      test(`${name}`, () => expect(answers[index]).toEqual(what as string));
    }
  });
}
