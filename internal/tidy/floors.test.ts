import { expect, test } from "bun:test";
import { floorViolations, moduleOf } from "./floors.ts";
import { sourceFiles } from "./tree.ts";

/** Fewer than these and the walk has lost its way; raise it as the product grows. */
const modulesMin = 18;
const filesMin = 60;

test("every import of every module keeps to the floors", () => {
  const files = sourceFiles();
  const inModules = files.filter((file) => moduleOf(file.path) !== undefined);
  expect(new Set(inModules.map((file) => moduleOf(file.path))).size).toBeGreaterThan(modulesMin);
  expect(inModules.length).toBeGreaterThan(filesMin);
  expect(floorViolations(files)).toEqual([]);
});

const refused: readonly (readonly [string, string, string])[] = [
  ["internal/frame/a.ts", `import { x } from "../os/mod.ts";`, "may not import os"],
  ["internal/frame/a.ts", `import type { X } from "../tree/mod.ts";`, "may not import tree"],
  ["internal/os/a.ts", `export * from "../run/mod.ts";`, "may not import run"],
  ["internal/os/a.ts", `export { x } from "../run/mod.ts";`, "may not import run"],
  ["internal/os/a.ts", `await import("../run/mod.ts");`, "may not import run"],
  ["internal/os/a.ts", `let x: import("../run/mod.ts").X;`, "may not import run"],
  ["internal/session/a.ts", `import { x } from "../launch/mod.ts";`, "may not import launch"],
  ["internal/run/a.ts", `import { x } from "../launch/plan.ts";`, "past the door"],
  ["internal/run/a.ts", `await import(name);`, "must name its file"],
  ["internal/control/a.ts", `import { x } from "node:fs";`, "floor 0 imports"],
  ["internal/control/a.ts", `import { x } from "bun";`, "floor 0 imports"],
  ["internal/control/a.ts", "const x = Date.now();", "floor 0 names Date.now"],
  ["internal/control/a.ts", "const x = new Date();", "floor 0 reads the clock"],
  ["internal/control/a.ts", "const x = Math.random();", "floor 0 names Math.random"],
  ["internal/run/a.ts", `import { dlopen } from "bun:ffi";`, "belongs to os"],
  ["internal/nowhere/a.ts", "", "has no floor"],
  ["cmd/ctx/a.ts", `import { x } from "../ctxd/serve.ts";`, "another program's"],
  ["internal/run/a.test.ts", `import { x } from "../launch/plan.ts";`, "past the door"],
  ["internal/run/a.ts", `import { x } from "../../sdk/agent.ts";`, "past the door"],
  ["sdk/a.ts", `import type { X } from "../internal/abi/mod.ts";`, `"node:" alone`],
  ["sdk/a.ts", `import * as z from "zod";`, `"node:" alone`],
  ["sdk/a.ts", `import "./b.ts";`, `"node:" alone`],
  ["sdk/a.ts", `import { x } from "bun";`, `"node:" alone`],
  ["sdk/a.test.ts", `import { x } from "../internal/launch/plan.ts";`, "past the door"],
];

for (const [path, text, why] of refused) {
  test(`${path} may not say ${text || "anything"}`, () => {
    const said = floorViolations([{ path, text }]);
    expect(said).toHaveLength(1);
    expect(said[0]).toContain(why);
  });
}

const allowed: readonly (readonly [string, string])[] = [
  ["internal/frame/a.ts", `import { fail } from "../abi/mod.ts"; import "./b.ts";`],
  ["internal/policy/a.ts", `import type { X } from "../control/mod.ts";`],
  ["internal/run/a.ts", `import { x } from "../launch/mod.ts";`],
  ["cmd/ctx/main.ts", `await import("./send.ts"); import "../../internal/cli/mod.ts";`],
  ["internal/control/a.ts", "const x = new Date(0);"],
  ["sdk/a.ts", `import { x } from "node:fs"; process.exit(0);`],
  ["sdk/a.test.ts", `import { x } from "../internal/launch/mod.ts"; import "./a.ts";`],
];

for (const [path, text] of allowed) {
  test(`${path} may say ${text}`, () => {
    expect(floorViolations([{ path, text }])).toEqual([]);
  });
}
