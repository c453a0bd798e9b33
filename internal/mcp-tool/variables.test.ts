import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { expandEntry, variableFault, variablesOf } from "./mod.ts";

const entry = {
  command: "${BIN}/run",
  args: ["-x", "--a=${A:-one}${B}", "$PLAIN", "${A:-}"],
  env: { T: "${T}", U: "u" },
  cwd: "/w/${D:-d/e}",
};
const where = 'server "s" of "f.json"';

test("every use of a variable is listed with its field", () => {
  expect(variablesOf(entry)).toEqual([
    { name: "BIN", field: "command" },
    { name: "A", field: "args[1]", fallback: "one" },
    { name: "B", field: "args[1]" },
    { name: "A", field: "args[3]", fallback: "" },
    { name: "T", field: "env.T" },
    { name: "D", field: "cwd", fallback: "d/e" },
  ]);
});

test("values replace variables once, and a default stands in for what is missing or empty", () => {
  const values: Record<string, string> = { BIN: "/b", A: "", B: "${T}", T: "t" };
  expect(expandEntry(entry, (name) => values[name], where)).toEqual({
    command: "/b/run",
    args: ["-x", "--a=one${T}", "$PLAIN", ""],
    env: { T: "t", U: "u" },
    cwd: "/w/d/e",
  });
});

test("a value may be empty where there is no default", () => {
  expect(expandEntry({ command: "x", args: ["${A}"], env: {} }, () => "", where).args).toEqual([
    "",
  ]);
});

describe("what cannot be expanded names file, server, field and variable", () => {
  const none = () => undefined;
  test("a missing variable", () => {
    expect(() => expandEntry({ command: "x", args: [], env: { K: "${T}" } }, none, where)).toThrow(
      'server "s" of "f.json": env.K needs the variable T, which is not set',
    );
  });
  test("a command that turns out relative, or empty", () => {
    const give = (value: string) => () =>
      expandEntry({ command: "${C}", args: [], env: {} }, () => value, where);
    expect(give("a/b")).toThrow(`${where}: command "a/b" is relative`);
    expect(give("")).toThrow(`${where}: command is empty`);
    expect(give("a\0")).toThrow(`${where}: a value holds a NUL character`);
  });
  test("a folder that turns out relative", () => {
    const relative = { command: "x", args: [], env: {}, cwd: "${C}" };
    expect(() => expandEntry(relative, () => "w", where)).toThrow(
      `${where}: cwd "w" is not an absolute path`,
    );
  });
});

test("a template without a fault has exactly the variables that are put into it", () => {
  const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/);
  const plain = fc.string({ maxLength: 8 }).map((text) => text.replaceAll(/[${}\0]/g, ""));
  const piece = fc.record({ name, fallback: fc.option(plain, { nil: undefined }), after: plain });
  fc.assert(
    fc.property(plain, fc.array(piece, { maxLength: 5 }), (before, pieces) => {
      const spelled = pieces.map(
        (one) =>
          `\${${one.name}${one.fallback === undefined ? "" : `:-${one.fallback}`}}${one.after}`,
      );
      const template = before + spelled.join("");
      expect(variableFault(template)).toBeUndefined();
      const used = variablesOf({ command: "x", args: [template], env: {} });
      expect(used.map((one) => [one.name, one.fallback])).toEqual(
        pieces.map((one) => [one.name, one.fallback]),
      );
      const expanded = expandEntry({ command: "x", args: [template], env: {} }, () => "V", where);
      expect(expanded.args[0]).toBe(before + pieces.map((one) => `V${one.after}`).join(""));
    }),
  );
});

test.each(["${}", "${1A}", "${A-b}", "${A b}", "${", "x${A${B}}", "${input:key}"])(
  "%s is a fault",
  (template) => {
    expect(variableFault(template)).toBeString();
  },
);
