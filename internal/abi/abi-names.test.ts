import { describe, expect, test } from "bun:test";
import names from "../../abi/names.json";
import { isObjectName, objectName, parseModelRef, sessionName } from "./mod.ts";

interface List {
  readonly valid: readonly string[];
  readonly invalid: readonly { readonly name: string; readonly why: string }[];
}

function accepts(check: (name: string) => unknown): (name: string) => boolean {
  return (name) => {
    try {
      check(name);
      return true;
    } catch (thrown) {
      expect(thrown).toMatchObject({ code: "EINVAL" });
      return false;
    }
  };
}

function expectJudged({ valid, invalid }: List, isValid: (name: string) => boolean): void {
  expect(valid.filter((name) => !isValid(name))).toEqual([]);
  expect(invalid.filter(({ name }) => isValid(name))).toEqual([]);
  expect(invalid.filter(({ why }) => why === "")).toEqual([]);
  const all = [...valid, ...invalid.map(({ name }) => name)];
  expect(all.length).toBe(new Set(all).size);
}

describe("abi/names.json", () => {
  test("has names of every kind", () => {
    expect(names.valid.length).toBeGreaterThanOrEqual(30);
    expect(names.invalid.length).toBeGreaterThanOrEqual(75);
    expect(names.models.valid.length).toBeGreaterThanOrEqual(5);
    expect(names.models.invalid.length).toBeGreaterThanOrEqual(20);
    expect(names.sessions.invalid.length).toBeGreaterThanOrEqual(4);
  });

  test("object names are judged as it says", () => {
    expectJudged(names, isObjectName);
    expectJudged(
      names,
      accepts((name) => objectName("agent", name)),
    );
  });

  test("model names are judged as it says", () => {
    expectJudged(names.models, (name) => parseModelRef(name) !== undefined);
  });

  test("session names are judged as it says", () => {
    expectJudged(names.sessions, accepts(sessionName));
  });
});
