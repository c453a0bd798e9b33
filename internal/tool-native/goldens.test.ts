import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  expectAccepted,
  expectAcceptedAlso,
  expectComplete,
  expectRejected,
  expectSameVerdicts,
} from "../../testdata/abi/claims.ts";
import { readProtocol } from "../../testdata/abi/folder.ts";
import { toolOutputBytesMax } from "../abi/mod.ts";
import { canonicalToolNative, encodeToolInput, judgeToolNative, nativeAnswer } from "./mod.ts";

const subject = {
  folder: readProtocol("tool-native/v1"),
  lineBytesMax: toolOutputBytesMax,
  judge: judgeToolNative,
  canonical: canonicalToolNative,
};

/** Changed goldens that are judged twice. */
const mutations = process.env["CTX_LONG"] === "1" ? 200_000 : 2_000;

describe("abi/tool-native/v1", () => {
  test("holds its goldens", () => {
    const { accept, acceptAlso, reject, rules } = subject.folder;
    expect(accept.size).toBeGreaterThanOrEqual(18);
    expect(acceptAlso.size).toBeGreaterThanOrEqual(14);
    expect(reject.length).toBeGreaterThanOrEqual(28);
    expect(rules.length).toBe(3);
  });

  test("every accept golden is accepted by code and schema and encodes to its own bytes", () => {
    expectAccepted(subject);
  });

  test("every accept-also golden is accepted and encodes to a line that stays as it is", () => {
    expectAcceptedAlso(subject);
  });

  test("every reject golden is refused with its code, path and layer, by the schema where it can", () => {
    expectRejected(subject);
  });

  test("every kind has three rejections and a definition, every rule has a golden", () => {
    expectComplete(subject);
  });

  test("code and schema agree on random changes of the goldens", () => {
    const { accepted, refused } = expectSameVerdicts(subject, mutations);
    expect(accepted).toBeGreaterThan(mutations / 20);
    expect(refused).toBeGreaterThan(mutations / 20);
  }, 600_000);
});

/** Whether the host takes a tool's output apart instead of showing it. */
const isTakenApart = (output: string) =>
  nativeAnswer(output, "", 0, undefined).output !== output ||
  nativeAnswer(output, "", 1, undefined).output === output;

describe("nativeAnswer", () => {
  test("reads a result exactly where the judge sees one", () => {
    const { accept, acceptAlso, reject } = subject.folder;
    const good = [...accept, ...acceptAlso];
    for (const [name, text] of good) {
      expect([name, isTakenApart(text)]).toEqual([name, name.startsWith("result")]);
    }
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    const bad = reject.map(({ name, bytes }) => [name, isTakenApart(decoder.decode(bytes))]);
    expect(bad.filter(([, taken]) => taken)).toEqual([]);
  });

  test("and of random results too", () => {
    const status = fc.constantFrom<unknown>("ok", "error", "done", 1);
    const made = fc.record(
      { type: fc.constantFrom("result", "text"), status, content: fc.jsonValue() },
      { requiredKeys: [] },
    );
    let results = 0;
    fc.assert(
      fc.property(made, fc.constantFrom("", "\n", " \n", "\r\n\n"), (value, end) => {
        const line = JSON.stringify(value);
        const judged = judgeToolNative(line);
        const isResult = judged.ok && judged.kind === "result";
        if (isResult) results += 1;
        expect([line, isTakenApart(line + end)]).toEqual([line, isResult]);
      }),
      { numRuns: 2000 },
    );
    expect(results).toBeGreaterThan(100);
  });
});

describe("encodeToolInput", () => {
  test("writes every golden input as it stands", () => {
    const inputs = [...subject.folder.accept].filter(([name]) => name.startsWith("input"));
    expect(inputs.length).toBeGreaterThan(5);
    for (const [, text] of inputs) expect(encodeToolInput(JSON.parse(text))).toBe(text);
    expect(encodeToolInput({ type: "result" })).toBe('{"type":"result"}\n');
  });

  test("refuses what is no object, is too deep or too long", () => {
    let deep: object = {};
    for (let level = 1; level < 65; level++) deep = { a: deep };
    for (const wrong of [undefined, null, "a", [1], deep, { a: "\ud800" }]) {
      expect(() => encodeToolInput(wrong)).toThrow(expect.objectContaining({ code: "EINVAL" }));
    }
    const long = { a: "x".repeat(toolOutputBytesMax) };
    expect(() => encodeToolInput(long)).toThrow(expect.objectContaining({ code: "EMSGSIZE" }));
  });
});
