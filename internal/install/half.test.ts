// Between the two names of a replacement the object is refused, a tool by the decision about it and an
// agent's program before it is started, as it stays when the replacement is killed there.

import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { InstallStage } from "../../testdata/install/stage.ts";
import { isRoot, refusal } from "../../testdata/tree/test-tree.ts";
import { authorizeProgram, decide, gatherFacts } from "../authority/mod.ts";
import { loadAgent } from "../tree/mod.ts";
import { replacementFault } from "./mod.ts";

setDefaultTimeout(60_000);

let stage: InstallStage;
beforeEach(() => {
  stage = new InstallStage();
});
afterEach(() => stage.close());

const half = "its replacement was cut in the middle; see ctx object residue audit";

function about(agent: string) {
  const { tree, made } = stage;
  const server = isRoot
    ? { uid: 0, groups: [], rootAgents: false }
    : { ...made.owner, groups: [], rootAgents: false };
  return { tree, agent, controls: loadAgent(tree, agent), server };
}

/** Installs two after one another and tells what was found before each step of the second. */
function replaced<T>(said: Parameters<InstallStage["install"]>[0], look: () => T): [string, T][] {
  stage.install(said);
  const seen: [string, T][] = [];
  const step = (name: string) => seen.push([name, look()]);
  const executable = "#!/bin/sh\necho other\n";
  stage.install({ ...said, executable, manifest: { version: "2.0.0" } }, { replace: true, step });
  return seen;
}

test("a tool that an agent may execute is refused in the middle and nowhere else", () => {
  const line = "allow coder_t tool:box.open execute\n";
  const policy = stage.path("agent/coder.d/policy");
  writeFileSync(policy, `${readFileSync(policy, "utf8")}${line}`);
  const object = { class: "tool", name: "box.open" } as const;
  const question = { object, permission: "execute" };
  const seen = replaced({ controls: { policy: line } }, () => {
    const verdict = decide(gatherFacts({ ...about("coder"), question }), question);
    return verdict.layers.flatMap(({ allowed, because }) => (allowed ? [] : [because]));
  });
  expect(Object.fromEntries(seen)).toEqual({
    ...{ make: [], fill: [], controls: [], receipt: [], publish: [] },
    executable: [`tool "box.open" is unavailable: ${half}`],
    ...{ clean: [], done: [] },
  });
});

test("a program is not started as its agent in the middle and nowhere else", () => {
  const agent = { class: "agent", name: "boxer" } as const;
  const start = () => {
    try {
      return authorizeProgram(about("boxer")).allowed;
    } catch {
      return refusal(() => authorizeProgram(about("boxer"))).message;
    }
  };
  const seen = replaced(agent, start);
  expect(seen.filter(([, found]) => found !== true)).toEqual([["executable", half]]);
});

test("what is no replacement has no such fault", () => {
  expect(replacementFault(stage.tree, "tool/fs.read")).toBeUndefined();
  stage.install();
  writeFileSync(stage.path("tool/box.open.d/.executable"), "mine");
  expect(replacementFault(stage.tree, "tool/box.open")).toBeUndefined();
});
