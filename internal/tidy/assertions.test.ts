import { expect, test } from "bun:test";
import { chain, readSyntax, walk } from "./syntax.ts";
import { isTest, type SourceFile, sourceFiles } from "./tree.ts";

/** A call of one of these is a claim; so is a call of a function whose own body makes one. */
const claims = /^(?:expect|assert|fc\.assert)(?:\.|$)|^(?:expect|assert|prove)[A-Z]/;

type Node = ReturnType<typeof readSyntax>["program"];

function callsIn(node: Node): string[] {
  const names: string[] = [];
  walk(node, (inner) => {
    if (inner.type !== "CallExpression") return;
    let callee = inner["callee"] as Node;
    // expect(x).toBe(y): the claim is at the far left of the chain.
    while (callee.type === "MemberExpression") {
      const name = chain(callee);
      if (name !== undefined) names.push(name);
      callee = callee["object"] as Node;
      if (callee.type === "CallExpression") callee = callee["callee"] as Node;
    }
    const name = chain(callee);
    if (name !== undefined) names.push(name);
  });
  return names;
}

/** Functions of the file that make a claim, directly or through one another. */
function claimingFunctions(program: Node): Set<string> {
  const bodies = new Map<string, string[]>();
  walk(program, (node) => {
    const id = node["id"] as Node | undefined | null;
    const body = node.type === "FunctionDeclaration" ? node : (node["init"] as Node | undefined);
    if (!/^(?:FunctionDeclaration|VariableDeclarator)$/.test(node.type)) return;
    if (id?.type === "Identifier" && body) bodies.set(id["name"] as string, callsIn(body));
  });
  const claiming = new Set<string>();
  for (let before = -1; before !== claiming.size; ) {
    before = claiming.size;
    for (const [name, calls] of bodies) {
      if (calls.some((call) => claims.test(call) || claiming.has(call))) claiming.add(name);
    }
  }
  return claiming;
}

function emptyTests(file: SourceFile): { seen: number; empty: string[] } {
  const { calls, program } = readSyntax(file);
  const claiming = claimingFunctions(program);
  const tests = calls.filter(({ name }) => /^(?:test|it)(?:\.(?:if|skipIf|each))?$/.test(name));
  const withBody = tests.filter(({ node }) => (node["arguments"] as Node[]).length >= 2);
  const empty = withBody.filter(({ node }) => {
    const bodies = (node["arguments"] as Node[]).slice(1);
    const named = bodies.map((body) => chain(body)).filter((name) => name !== undefined);
    const called = [...named, ...bodies.flatMap(callsIn)];
    return !called.some((name) => claims.test(name) || claiming.has(name));
  });
  return { seen: withBody.length, empty: empty.map(({ line }) => `${file.path}:${line}`) };
}

test("every test claims something", () => {
  const found = sourceFiles()
    .filter(({ path }) => isTest(path))
    .map(emptyTests);
  expect(found.reduce((sum, { seen }) => sum + seen, 0)).toBeGreaterThan(100);
  expect(found.flatMap(({ empty }) => empty)).toEqual([]);
});

test("a test without a claim is seen, one that claims through a function of its file is not", () => {
  const text = `
    function holds(x) { expect(x).toBe(1); }
    const deeper = (x) => holds(x);
    test("a", () => { run(); });
    test("b", () => { deeper(1); });
    test("c", async () => { await expect(run()).rejects.toThrow(); });
    test("d", () => fc.assert(fc.property(fc.nat(), (n) => n >= 0)));
  `;
  expect(emptyTests({ path: "a.test.ts", text })).toEqual({ seen: 4, empty: ["a.test.ts:4"] });
});
