import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { decodeLaunchLine, encodeLine, type LaunchSays } from "./wire.ts";

const root = { pid: 77, startTime: "1234" };

const said: readonly LaunchSays[] = [
  { type: "hello", version: 1, ticket: "t" },
  { type: "again", version: 1, ticket: "t" },
  { type: "standing", root, init: { pid: 78, startTime: "1235" } },
  { type: "answers" },
  { type: "ending" },
  { type: "ended", status: 0 },
  { type: "ended", status: 137, signal: 9 },
  { type: "failed", code: "EACCES", message: "no", hint: "else" },
];

describe("what a launch says", () => {
  test("is decoded as it was encoded", () => {
    for (const message of said) {
      expect(decodeLaunchLine(encodeLine(message).slice(0, -1))).toEqual(message);
    }
  });

  test.each([
    [{ type: "standing", root: { pid: 1, startTime: "1" }, init: root }],
    [{ type: "standing", root: { pid: -7, startTime: "1" }, init: root }],
    [{ type: "standing", root, init: { pid: 7, startTime: 1 } }],
    [{ type: "standing", root }],
    [{ type: "ended", status: 256 }],
    [{ type: "ended", status: -1 }],
    [{ type: "failed", code: "EODD", message: "no" }],
    [{ type: "hello", version: 1 }],
    [{ type: "plan" }],
  ])("%j is nothing", (message) => {
    expect(decodeLaunchLine(JSON.stringify(message))).toBeUndefined();
  });

  test("may be anything at all: it is decoded or it is nothing, and nothing is thrown", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (line) => {
        const message = decodeLaunchLine(line);
        expect(message === undefined || typeof message.type === "string").toBe(true);
      }),
    );
  });
});
