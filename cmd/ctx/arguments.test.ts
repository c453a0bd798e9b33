import { describe, expect, test } from "bun:test";
import { parseArguments } from "./arguments.ts";
import type { Arguments, CommandSpec } from "./command.ts";

const spec: CommandSpec = {
  name: "agent send",
  words: "<agent> [input..]",
  summary: "Sends.",
  positionals: { agent: "Name", input: "Words" },
  options: { raw: { type: "boolean", describe: "Frames" } },
  examples: [["agent send coder hi", "says hi"]],
};

async function parse(...argv: string[]): Promise<Arguments> {
  const parsed = await parseArguments(spec, argv);
  if (typeof parsed === "string") throw new Error("that was a request for help");
  return parsed;
}

describe("words after --", () => {
  test("belong to the command, whatever they look like", async () => {
    const args = await parse("coder", "--raw", "a", "--", "-x", "--help", "--");
    expect([args.need("agent"), args.flag("raw")]).toEqual(["coder", true]);
    expect(args.list("input")).toEqual(["a", "-x", "--help", "--"]);
  });

  test("are too many where the command takes no list", async () => {
    const one = { ...spec, words: "[agent]", positionals: { agent: "Name" } };
    const args = await parseArguments(one, ["--", "coder"]);
    expect(typeof args === "string" ? args : args.need("agent")).toBe("coder");
    expect(parseArguments(one, ["a", "--", "b"])).rejects.toMatchObject({ code: "EINVAL" });
  });
});
