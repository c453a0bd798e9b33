// Installs, replaces or removes one tool and kills itself before the n-th call that changes the disk,
// for the test of what is left then. The modules under test are loaded with their calls counted.
// Arguments: the tree, the manifest or the object, what to do, n (0 goes to the end and prints what was counted).

import * as fs from "node:fs";

const [source = "", subject = "", deed = "install", at = "0"] = process.argv.slice(2);
const changing = [
  "closeSync",
  "fchmodSync",
  "fchownSync",
  "fsyncSync",
  "mkdirSync",
  "rmdirSync",
  "unlinkSync",
  "writeSync",
];

let calls = 0;
const counted: Record<string, unknown> = { ...fs };
for (const call of changing) {
  const real = counted[call] as (...args: unknown[]) => unknown;
  counted[call] = (...args: unknown[]) => {
    calls += 1;
    if (calls === Number(at)) process.kill(process.pid, "SIGKILL");
    return real(...args);
  };
}
(globalThis as Record<string, unknown>)["countedFs"] = counted;

Bun.plugin({
  name: "counted file calls",
  setup(build) {
    build.onLoad({ filter: /internal\/(?:install|os)\/[^/]+\.ts$/ }, async ({ path }) => {
      const text = await Bun.file(path).text();
      const contents = text.replace(
        /import \{([^}]*)\} from "node:fs";/,
        (_, names: string) => `const {${names.replace(/type \w+,?/g, "")}} = globalThis.countedFs;`,
      );
      return { contents: contents.replace(/: Stats\b/g, ": any"), loader: "ts" };
    });
  },
});

// Only now, when the calls of what is loaded are counted.
const { checkManifest, installObject, uninstallObject } = await import("./mod.ts");
const { openTree } = await import("../tree/mod.ts");
const tree = openTree(source);
const places = { config: `${source}/none`, uid: process.getuid?.() ?? 0 };
calls = 0;
const steps: number[] = [];
const step = () => steps.push(calls);
process.stdout.write("begin\n");
if (deed === "uninstall") uninstallObject(tree, subject, step);
else {
  const checked = checkManifest(subject);
  const how = { tier: "system", uid: 0, replace: deed === "replace", now: new Date(0) } as const;
  installObject({ tree, places, checked, step, ...how });
}
process.stdout.write(`${JSON.stringify({ calls, steps })}\n`);
