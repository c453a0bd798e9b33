import { expect, test } from "bun:test";
import { CodedError } from "../abi/mod.ts";
import { parseTsh, type TshCommand, tshTool } from "./tsh.ts";

test.each<[string[], TshCommand]>([
  [["tools"], { kind: "tools" }],
  [["loads"], { kind: "loads" }],
  [["load", "bash"], { kind: "load", names: ["bash"] }],
  [["pin", "a", "b"], { kind: "pin", names: ["a", "b"] }],
  [["unload", "bash"], { kind: "unload", names: ["bash"] }],
  [["unpin", "bash"], { kind: "unpin", names: ["bash"] }],
  [["which", "fs.read"], { kind: "which", name: "fs.read" }],
  [["help", "fs.read"], { kind: "help", name: "fs.read" }],
  [["fs.read", '{"path":"a"}'], { kind: "tool", name: "fs.read", args: { path: "a" } }],
  [["fs.read", "a b.md"], { kind: "tool", name: "fs.read", args: { path: "a b.md" } }],
  [["fs.list"], { kind: "tool", name: "fs.list", args: { path: "." } }],
  [["fs.stat", "a"], { kind: "tool", name: "fs.stat", args: { path: "a" } }],
  [
    ["fs.write", "a", '{"x":1}'],
    { kind: "tool", name: "fs.write", args: { path: "a", content: '{"x":1}' } },
  ],
  [
    ["fs.replace", "a", "old", ""],
    { kind: "tool", name: "fs.replace", args: { path: "a", old: "old", new: "" } },
  ],
  [["shell.exec", "ls -l | wc"], { kind: "tool", name: "shell.exec", args: { cmd: "ls -l | wc" } }],
  [["shell.exec", "ls", "-l"], { kind: "tool", name: "shell.exec", args: { cmd: ["ls", "-l"] } }],
  [["shell.exec", "{ true; }"], { kind: "tool", name: "shell.exec", args: { cmd: "{ true; }" } }],
  [["other.tool"], { kind: "tool", name: "other.tool", args: {} }],
  [["other.tool", '{"a":[]}'], { kind: "tool", name: "other.tool", args: { a: [] } }],
])("%j names what to do", (words, command) => {
  expect(parseTsh({ args: words })).toEqual(command);
});

test.each([
  [undefined],
  [{}],
  [{ args: [] }],
  [{ args: "tools" }],
  [{ args: [1] }],
  [{ args: ["tools", "x"] }],
  [{ args: ["help"] }],
  [{ args: ["which", "a", "b"] }],
  [{ args: ["load"] }],
  [{ args: ["loads", "bash"] }],
  [{ args: ["config"] }],
  [{ args: ["exit"] }],
  [{ args: ["tsh", "tools"] }],
  [{ args: ["fs.read"] }],
  [{ args: ["fs.read", "a", "b"] }],
  [{ args: ["fs.write", "a"] }],
  [{ args: ["shell.exec"] }],
  [{ args: ["other.tool", "word"] }],
  [{ args: ["other.tool", "{broken"] }],
])("%j is EINVAL", (args) => {
  let thrown: unknown;
  try {
    parseTsh(args);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(CodedError);
  expect((thrown as CodedError).code).toBe("EINVAL");
});

test("the offered schema is the ABI's: one list of words", () => {
  expect(tshTool.schema).toMatchObject({ required: ["args"], additionalProperties: false });
});
