import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { abiFolder, readAbiJson } from "../../testdata/abi/folder.ts";
import type { PolicyClass } from "../control/mod.ts";
import { parsePolicy } from "./mod.ts";

interface Question {
  readonly subject: string;
  /** A class of the table, or a word that no policy can hold. */
  readonly class: PolicyClass;
  readonly name: string;
  readonly permission: string;
  readonly verdict: "allow" | "deny";
  readonly line?: number;
}

interface File {
  readonly about: string;
  readonly policy?: string;
  readonly repeat?: {
    readonly before: string;
    readonly unit: string;
    readonly times: number;
    readonly after: string;
  };
  readonly questions: readonly Question[];
}

interface Invalid {
  readonly about: string;
  readonly policy: string;
  readonly code: string;
  readonly line: number;
  readonly column: number;
}

function textOf({ policy, repeat }: File): string {
  if (repeat === undefined) return policy ?? "";
  return repeat.before + repeat.unit.repeat(repeat.times) + repeat.after;
}

const names = readdirSync(join(abiFolder, "policy"))
  .filter((name) => name !== "invalid.json")
  .sort();
const files = names.map((name) => ({ name, file: readAbiJson<File>(`policy/${name}`) }));

describe("abi/policy", () => {
  test("has its cases, of both verdicts", () => {
    const questions = files.flatMap(({ file }) => file.questions);
    expect(files.length).toBeGreaterThanOrEqual(12);
    expect(questions.filter((one) => one.verdict === "allow").length).toBeGreaterThanOrEqual(40);
    expect(questions.filter((one) => one.verdict === "deny").length).toBeGreaterThanOrEqual(90);
  });

  for (const { name, file } of files) {
    test(`${name}: ${file.about}`, () => {
      const parsed = parsePolicy(textOf(file));
      if (!parsed.ok) throw new Error(`line ${parsed.line}: ${parsed.reason}`);
      expect(file.questions.length).toBeGreaterThan(0);
      for (const { verdict, line, ...question } of file.questions) {
        const { subject, permission } = question;
        const object = { class: question.class, name: question.name };
        const found = parsed.value.find(subject, object, permission);
        expect([question, found === undefined ? "deny" : "allow", found]).toEqual([
          question,
          verdict,
          line,
        ]);
      }
    });
  }

  test("invalid.json: a policy with one wrong line is refused whole, at its place", () => {
    const { invalid } = readAbiJson<{ invalid: Invalid[] }>("policy/invalid.json");
    expect(invalid.length).toBeGreaterThanOrEqual(25);
    for (const { about, policy, code, line, column } of invalid) {
      const parsed = parsePolicy(policy);
      const { code: said, ...place } = parsed.ok ? { code: "accepted" } : parsed;
      expect({ about, said, ...place }).toMatchObject({ about, said: code, line, column });
    }
  });
});
