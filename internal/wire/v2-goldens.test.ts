import { describe, expect, test } from "bun:test";
import {
  expectAccepted,
  expectAcceptedAlso,
  expectComplete,
  expectRejected,
  expectSameVerdicts,
} from "../../testdata/abi/claims.ts";
import { readProtocol } from "../../testdata/abi/folder.ts";
import { canonicalV2, judgeV2, v2LineBytesMax } from "./mod.ts";
import { checkLine } from "./v2-decode.ts";

const subject = {
  folder: readProtocol("interaction/v2"),
  lineBytesMax: v2LineBytesMax,
  judge: judgeV2,
  canonical: canonicalV2,
};

/** Changed goldens that are judged twice. */
const mutations = process.env["CTX_LONG"] === "1" ? 200_000 : 4_000;

/** A busy machine may take its time over them. */
const slowMs = 600_000;

describe("abi/interaction/v2", () => {
  test("holds its goldens", () => {
    const { accept, acceptAlso, reject, rules } = subject.folder;
    expect(accept.size).toBeGreaterThanOrEqual(60);
    expect(acceptAlso.size).toBeGreaterThanOrEqual(19);
    expect(reject.length).toBeGreaterThanOrEqual(300);
    expect(rules.length).toBe(13);
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

  test("a golden of a rule is refused by the rule that its name says, for a kind of that rule", () => {
    const { reject, rules } = subject.folder;
    const ruled = reject.filter(({ by }) => by === "rule");
    expect(ruled.length).toBeGreaterThanOrEqual(30);
    for (const { name, bytes } of ruled) {
      const checked = checkLine(new TextDecoder().decode(bytes));
      const rule = rules.find((one) => !checked.ok && one.name === checked.refusal.rule);
      expect([name, rule !== undefined && name.includes(rule.name)]).toEqual([name, true]);
      const covers = rule?.kinds.some((kind) => kind === "*" || name.startsWith(`${kind}-`));
      expect([name, covers]).toEqual([name, true]);
    }
  });

  test(
    "code and schema agree on random changes of the goldens",
    () => {
      const { accepted, refused } = expectSameVerdicts(subject, mutations);
      expect(accepted).toBeGreaterThan(mutations / 50);
      expect(refused).toBeGreaterThan(mutations / 20);
    },
    slowMs,
  );
});
