import { describe, expect, test } from "bun:test";
import {
  expectAccepted,
  expectAcceptedAlso,
  expectComplete,
  expectRejected,
  expectSameVerdicts,
} from "../../testdata/abi/claims.ts";
import { readProtocol } from "../../testdata/abi/folder.ts";
import {
  canonicalTerminalCall,
  capabilityLineBytesMax,
  decodeHostLine,
  decodeShellLine,
  decodeTerminalRequest,
  decodeWordAnswer,
  judgeTerminalCall,
} from "./mod.ts";

const subject = {
  folder: readProtocol("terminal-call/v1"),
  lineBytesMax: capabilityLineBytesMax,
  judge: judgeTerminalCall,
  canonical: canonicalTerminalCall,
};

/** Changed goldens that are judged twice. */
const mutations = process.env["CTX_LONG"] === "1" ? 200_000 : 2_000;

describe("abi/terminal-call/v1", () => {
  test("holds its goldens", () => {
    const { accept, acceptAlso, reject, rules } = subject.folder;
    expect(accept.size).toBeGreaterThanOrEqual(28);
    expect(acceptAlso.size).toBeGreaterThanOrEqual(14);
    expect(reject.length).toBeGreaterThanOrEqual(90);
    expect(rules.length).toBe(4);
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

test("each side takes the other's lines and no others", () => {
  const sides = { host: new Set<string>(), shell: new Set<string>(), asked: new Set<string>() };
  const answers = new Set<string>();
  for (const [name, text] of subject.folder.accept) {
    const line = text.slice(0, -1);
    const kind = name.split("-")[0] as string;
    if (decodeHostLine(line).ok) sides.host.add(kind);
    if (decodeShellLine(line).ok) sides.shell.add(kind);
    if (decodeTerminalRequest(line)?.ok) sides.asked.add(kind);
    if (decodeWordAnswer(line).ok) answers.add(kind);
  }
  expect([...sides.host].sort()).toEqual(["call", "cancel", "note"]);
  expect([...sides.shell].sort()).toEqual(["begin", "end", "output"]);
  expect([...sides.asked].sort()).toEqual(["terminal.serve", "tsh"]);
  expect([...answers]).toEqual(["answer"]);
});

test("an offer that is wrong is refused under its id, another request is none", () => {
  const wrong = `{"op":"terminal.serve","request_id":""}`;
  expect(decodeTerminalRequest(wrong)).toMatchObject({ ok: false, request_id: null });
  const other = `{"op":"tool.authorize","request_id":"a","name":"fs.read","args":{}}`;
  const word = `{"op":"tsh","request_id":"w-1","args":["exit"]}`;
  expect(decodeTerminalRequest(word)).toMatchObject({ ok: false, request_id: "w-1" });
  const others = [other, "{", `{"request_id":"a","ok":true,"text":""}`];
  expect(others.map(decodeTerminalRequest)).toEqual(others.map(() => undefined));
});
