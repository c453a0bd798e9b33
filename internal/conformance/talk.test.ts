import { describe, expect, test } from "bun:test";
import { abiFiles } from "./files.ts";
import { frameFault } from "./frame-fault.ts";
import { selectTalks } from "./select.ts";
import { parseTalk, type TalkAbi } from "./talk.ts";

const header = { talk: "op/x", abi: "op/v1", about: "why" };
const file = "abi/op/v1/talk/x.jsonl";

function parse(...lines: readonly unknown[]) {
  const texts = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
  return parseTalk(file, `${texts.join("\n")}\n`);
}

describe("parseTalk()", () => {
  test("reads a header and its steps with their lines and connections", () => {
    const talk = parse(
      { ...header, draft: true, may_skip: ["delta"] },
      { send: { op: "ping", id: "<new:req>" } },
      { send_line: "x", on: "b" },
      { send_bytes: "eA==" },
      { send_repeat: { before: "a", unit: "b", times: 2, after: "c" } },
      { expect: { id: "<req>" } },
      { expect_text: { kind: "delta", text: "x" } },
      { close: "write" },
      { expect_close: true },
      { close: true, on: "b" },
    );
    expect(talk).toMatchObject({ file, name: "op/x", abi: "op", about: "why", draft: true });
    expect([...talk.maySkip]).toEqual(["delta"]);
    expect(talk.steps.map(({ line, on, action }) => [line, on, action.kind])).toEqual([
      [2, "a", "send"],
      [3, "b", "send_line"],
      [4, "a", "send_bytes"],
      [5, "a", "send_repeat"],
      [6, "a", "expect"],
      [7, "a", "expect_text"],
      [8, "a", "close"],
      [9, "a", "expect_close"],
      [10, "b", "close"],
    ]);
  });

  test("knows what a talk needs, and whose a capability socket is", () => {
    const asking = parse({ ...header, needs: "approval" }, { expect_close: true });
    expect([asking.needs, parse(header, { expect_close: true }).needs]).toEqual([
      "approval",
      undefined,
    ]);
    const line = { send: { a: ["<agent>", "<session>", "<run>"] } };
    const first = { ...header, talk: "control/x", abi: "control/v1" };
    const text = [first, line, { expect_close: true }]
      .map((one) => `${JSON.stringify(one)}\n`)
      .join("");
    expect(parseTalk("abi/control/v1/talk/x.jsonl", text)).toMatchObject({ abi: "control" });
  });

  const close = { expect_close: true };
  test.each([
    ["no JSON", [header, "{"], 2],
    ["no object", [header, "[]"], 2],
    ["an empty line", [header, "", close], 2],
    ["an unknown field of the header", [{ ...header, more: 1 }, close], 1],
    ["an unknown abi", [{ ...header, abi: "op/v9" }, close], 1],
    ["a name that is not the file's", [{ ...header, talk: "op/y" }, close], 1],
    ["a name of another protocol", [{ ...header, talk: "v1/x" }, close], 1],
    ["nothing about it", [{ ...header, about: "" }, close], 1],
    ["a draft that is no switch", [{ ...header, draft: 1 }, close], 1],
    ["may_skip that is no list", [{ ...header, may_skip: "delta" }, close], 1],
    ["a need that nobody has", [{ ...header, needs: "luck" }, close], 1],
    ["a need that is inherited", [{ ...header, needs: "toString" }, close], 1],
    ["a run that is not given", [header, { send: { a: "<run>" } }, close], 2],
    ["an unknown step", [header, { wait: 1 }, close], 2],
    ["an inherited step", [header, { toString: 1 }, close], 2],
    ["no step", [header, { on: "b" }, close], 2],
    ["two steps in one", [header, { send: 1, expect: {} }, close], 2],
    ["a connection without a name", [header, { ...close, on: "" }], 2],
    ["a line with a newline", [header, { send_line: "a\nb" }, close], 2],
    ["bytes that are not base64", [header, { send_bytes: "a" }, close], 2],
    ["a repeat without times", [header, { send_repeat: { before: "", unit: "x" } }, close], 2],
    [
      "a repeat without bounds",
      [header, { send_repeat: { before: "", unit: "x", times: 1e9, after: "" } }, close],
      2,
    ],
    ["a pattern that is no object", [header, { expect: "x" }], 2],
    ["a text without its kind", [header, { expect_text: { text: "x" } }], 2],
    ["a close that is not known", [header, { close: "read" }, close], 2],
    ["a close that is expected not to be", [header, { expect_close: false }], 2],
    ["a talk that expects nothing", [header, { send: {} }], 2],
    ["what is no placeholder", [header, { send: { a: "<A>" } }, close], 2],
    ["a name used before it is made", [header, { send: { a: "<req>" } }, close], 2],
    ["a name made twice", [header, { send: { a: ["<new:r>", "<new:r>"] } }, close], 2],
    ["a name made in a pattern", [header, { expect: { a: "<new:r>" } }], 2],
    ["a counter gone on with before it is there", [header, { expect: { a: "<n#+1>" } }], 2],
    ["an absence that is sent", [header, { send: { a: "<->" } }, close], 2],
  ] as const)("refuses %s and names the line", (_, lines, line) => {
    try {
      parse(...lines);
    } catch (error) {
      expect(error).toMatchObject({ code: "EINVAL", place: { file, line, column: 1 } });
      expect((error as Error).message).toStartWith(`${file}:${line}: `);
      return;
    }
    throw new Error("it was read");
  });

  test("refuses a last line without its newline", () => {
    expect(() => parseTalk(file, JSON.stringify(header))).toThrow("newline");
  });
});

/** A frame as it could be sent: each placeholder by its name, a counter by a number. */
function filled(frame: unknown): string {
  const text = JSON.stringify(frame);
  return text.replaceAll(/"<(?:new:)?([a-z0-9]+)>"/g, '"$1"').replaceAll(/"<[a-z0-9]+#>"/g, "1");
}

describe("the talks of abi/", () => {
  const least: Readonly<Record<TalkAbi, number>> = { op: 190, v1: 150, v2: 30, control: 65 };
  for (const abi of Object.keys(least) as TalkAbi[]) {
    test(`of ${abi} can all be read, and each says something of its own`, () => {
      const talks = selectTalks(abiFiles(), abi);
      expect(talks.length).toBeGreaterThanOrEqual(least[abi]);
      expect(new Set(talks.map(({ name }) => name)).size).toBe(talks.length);
      expect(talks.map(({ name }) => name)).toEqual(talks.map(({ name }) => name).sort());
    });
  }

  test("of all but v2 are no drafts", () => {
    const drafts = (["op", "v1", "control"] satisfies TalkAbi[]).flatMap((abi) =>
      selectTalks(abiFiles(), abi).filter(({ draft }) => draft),
    );
    expect(drafts).toEqual([]);
  });

  test("need an agent that asks where a call is asked about, and nowhere else", () => {
    const asks = /"approval_request"|"request_approval"/;
    const talks = (Object.keys(least) as TalkAbi[]).flatMap((abi) => selectTalks(abiFiles(), abi));
    const [asked, calm] = [talks.filter(({ needs }) => needs), talks.filter(({ needs }) => !needs)];
    expect(asked.length).toBeGreaterThan(50);
    expect(calm.filter(({ steps }) => asks.test(JSON.stringify(steps)))).toEqual([]);
  });

  test("of control send what is wrong on purpose only where it is refused", () => {
    const wrong: string[] = [];
    let refused = 0;
    for (const { file: path, steps } of selectTalks(abiFiles(), "control")) {
      for (const [index, { line, action }] of steps.entries()) {
        if (action.kind !== "send") continue;
        const fault = frameFault("control", filled(action.frame));
        if (fault === undefined) continue;
        const answer = steps[index + 1]?.action;
        const pattern = answer?.kind === "expect" ? JSON.stringify(answer.pattern) : "";
        refused += 1;
        if (!pattern.includes('"ok":false')) wrong.push(`${path}:${line}: ${fault}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(refused).toBeGreaterThan(20);
  });

  for (const abi of ["op", "v1"] as const) {
    test(`of ${abi} send only right frames as frames; what is wrong on purpose goes as a line`, () => {
      const wrong: string[] = [];
      let frames = 0;
      for (const { file: path, steps } of selectTalks(abiFiles(), abi)) {
        for (const { line, action } of steps) {
          if (action.kind !== "send") continue;
          frames += 1;
          const fault = frameFault(abi, filled(action.frame));
          if (fault !== undefined) wrong.push(`${path}:${line}: ${fault}`);
        }
      }
      expect(wrong).toEqual([]);
      expect(frames).toBeGreaterThan(100);
    });
  }

  test("are found by name with and without the protocol; an unknown name is ENOENT", () => {
    for (const name of ["ping", "op/ping"]) {
      expect(selectTalks(abiFiles(), "op", name).map((talk) => talk.name)).toEqual(["op/ping"]);
    }
    expect(() => selectTalks(abiFiles(), "op", "nope")).toThrow("does not exist");
    expect(() => selectTalks(new Map(), "op")).toThrow("no talks");
  });
});
