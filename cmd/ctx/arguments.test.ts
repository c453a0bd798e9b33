import { describe, expect, test } from "bun:test";
import { parseArguments } from "./arguments.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { shortForm } from "./short-form.ts";

const spec: CommandSpec = {
  name: "agent send",
  words: "<agent> [input..]",
  summary: "Sends.",
  positionals: { agent: "Name", input: "Words" },
  options: {
    raw: { type: "boolean", describe: "Frames" },
    session: { type: "string", describe: "Session" },
  },
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

describe("a line that cannot be meant is refused with what to write", () => {
  const refusals = [
    [[], "the agent is missing"],
    [["coder", "--session"], 'option "--session" needs a value'],
    [["coder", "--session", "--raw"], 'option "--session" needs a value'],
    [["coder", "--nope"], 'unknown option "--nope"'],
    [["coder", "-x"], 'unknown option "-x"'],
    // A word has its place and is no option, or two agents could be named in one line.
    [["coder", "hi", "--agent", "reviewer"], 'unknown option "--agent"'],
  ] as const;
  for (const [argv, message] of refusals) {
    test(argv.join(" ") || "no words", () => {
      expect(parse(...argv)).rejects.toMatchObject({ code: "EINVAL", message });
    });
  }

  test("a surplus word, where the command takes none", () => {
    const none = { ...spec, words: "", positionals: {} };
    expect(parseArguments(none, ["extra"])).rejects.toMatchObject({
      code: "EINVAL",
      message: 'unexpected word "extra"',
    });
  });

  test("--json, of a command that prints no facts", () => {
    expect(parseArguments({ ...spec, json: false }, ["coder", "--json"])).rejects.toMatchObject({
      message: 'unknown option "--json"',
    });
  });
});

describe("the short form", () => {
  const short = shortForm(spec, "coder");

  test("takes the agent as an option anywhere, and has a default", async () => {
    for (const argv of [
      ["hi", "--agent", "reviewer"],
      ["--agent=reviewer", "hi"],
    ]) {
      const args = (await parseArguments(short, argv)) as Arguments;
      expect([args.need("agent"), args.list("input")]).toEqual(["reviewer", ["hi"]]);
    }
    const args = (await parseArguments(short, ["--", "--agent", "x"])) as Arguments;
    expect([args.need("agent"), args.list("input")]).toEqual(["coder", ["--agent", "x"]]);
  });

  test("shows in its help what is to be typed for it", async () => {
    const help = await parseArguments(short, ["--help"]);
    expect(help).toStartWith("Usage: ctx send [input..]\n");
    expect(help).toContain("\n  ctx send hi\n");
    expect(help).toContain("--agent");
  });
});
