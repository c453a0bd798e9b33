// Makes one agent and kills itself before the n-th call that changes the disk, for the test of what
// is left then. The module under test is loaded with its file calls counted.
// Arguments: the tree, the name, n (0 counts to the end and prints the number).

import * as fs from "node:fs";

const [source = "", name = "", at = "0"] = process.argv.slice(2);
const changing = [
  "closeSync",
  "fchmodSync",
  "fchownSync",
  "fsyncSync",
  "mkdirSync",
  "renameSync",
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
    build.onLoad({ filter: /internal\/(?:tree|os)\/[^/]+\.ts$/ }, async ({ path }) => {
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
const { openTree, planAgent, publishAgent, treeOwner } = await import("./mod.ts");
const tree = openTree(source);
const owner = treeOwner(source);
if (owner === undefined) throw new Error(`"${source}" has no owner`);
const context = { tree, owner, groups: [], places: { config: `${source}/none`, uid: owner.uid } };
const nothing = {
  name: undefined,
  controls: new Map(),
  description: undefined,
  program: undefined,
};
const controls = planAgent(context, name, nothing);
calls = 0;
process.stdout.write("begin\n");
const executable = { kind: "model", description: "Made by a test" } as const;
publishAgent(tree, { name, owner, controls, executable });
process.stdout.write(`${calls}\n`);
