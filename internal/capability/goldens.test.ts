import { describe, expect, test } from "bun:test";
import {
  expectAccepted,
  expectAcceptedAlso,
  expectComplete,
  expectRejected,
  expectSameVerdicts,
} from "../../testdata/abi/claims.ts";
import { readProtocol } from "../../testdata/abi/folder.ts";
import { canonicalControl, capabilityLineBytesMax, judgeControl } from "./mod.ts";

const subject = {
  folder: readProtocol("control/v1"),
  lineBytesMax: capabilityLineBytesMax,
  judge: judgeControl,
  canonical: canonicalControl,
};

/** Changed goldens that are judged twice. */
const mutations = process.env["CTX_LONG"] === "1" ? 200_000 : 2_000;

describe("abi/control/v1", () => {
  test("holds its goldens", () => {
    const { accept, acceptAlso, reject, rules } = subject.folder;
    expect(accept.size).toBeGreaterThanOrEqual(18);
    expect(acceptAlso.size).toBeGreaterThanOrEqual(9);
    expect(reject.length).toBeGreaterThanOrEqual(100);
    expect(rules.length).toBe(6);
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
