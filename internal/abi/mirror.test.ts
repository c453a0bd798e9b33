import { describe, expect, test } from "bun:test";
import errors from "../../abi/errors.json";
import exits from "../../abi/exit-codes.json";
import { type Code, codes, exitMeanings } from "./mod.ts";

describe("abi/ mirrors the tables of the code", () => {
  test("errors.json has every code, in order, with every fact", () => {
    expect(JSON.stringify(errors)).toBe(JSON.stringify(codes));
    expect(Object.keys(errors).length).toBeGreaterThanOrEqual(20);
  });

  test("exit-codes.json has every exit status", () => {
    expect(JSON.stringify(exits)).toBe(JSON.stringify(exitMeanings));
  });

  test("every code exits with a status that is listed", () => {
    const listed = Object.keys(exits);
    for (const code of Object.keys(codes) as Code[]) {
      expect([code, listed.includes(String(codes[code].exit))]).toEqual([code, true]);
    }
  });
});

// Written out by hand on purpose: what programs outside branch on is frozen here, and a change of
// the tables that this list does not follow is a change of the contract.
const pinned: readonly [string, number, boolean][] = [
  ["EINVAL", 2, false],
  ["EMSGSIZE", 2, false],
  ["EACCES", 13, false],
  ["ENOENT", 1, false],
  ["EEXIST", 1, false],
  ["EIO", 70, false],
  ["EALREADY", 1, false],
  ["EHOSTDOWN", 69, true],
  ["EROFS", 1, false],
  ["ENOTEMPTY", 1, false],
  ["ENOSPC", 70, true],
  ["ETIMEDOUT", 69, true],
  ["ECANCELED", 130, false],
  ["request_conflict", 2, false],
  ["busy", 69, true],
  ["slow_consumer", 69, true],
  ["session_locked", 69, true],
  ["unsupported_version", 2, false],
  ["cursor_invalid", 2, false],
  ["interrupted", 1, false],
];

describe("the contract that programs branch on", () => {
  test("names exactly these codes with these exit statuses and this retryability", () => {
    const actual = Object.entries(codes).map(([name, { exit, retryable }]) => {
      const row: (typeof pinned)[number] = [name, exit, retryable];
      return row;
    });
    expect(actual).toEqual([...pinned]);
  });

  test("has exactly these exit statuses", () => {
    expect(Object.keys(exitMeanings)).toEqual(["0", "1", "2", "13", "69", "70", "130"]);
  });
});
