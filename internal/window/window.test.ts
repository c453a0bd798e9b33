import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readAbiJson } from "../../testdata/abi/folder.ts";
import {
  admitPrompt,
  budgetMax,
  candidateWindow,
  checkWindowPair,
  effectiveWindow,
  formatWindowSetting,
  outputReserve,
  parseWindowSetting,
  promptCharacters,
  promptCharge,
  skillsCharacters,
  type WindowSetting,
  windowCharacters,
  windowEnvironment,
} from "./mod.ts";

interface Case {
  readonly text: string;
  readonly setting: WindowSetting;
  readonly maximum: number | null;
  readonly effective: number | null;
  readonly admissible: boolean;
  readonly tokens: number | null;
  readonly environment: Record<string, string>;
  readonly output_reserve: number | null;
  readonly prompt_characters: number | null;
  readonly skills_characters: number;
  readonly candidates: readonly { name: string; maximum: number | null }[];
  readonly results: readonly object[];
  readonly messages: readonly unknown[];
  readonly charge: number;
  readonly fits: boolean;
  readonly code?: string;
  readonly line: number;
  readonly column: number;
}

function cases(name: string, min: number): readonly Case[] {
  const found = readAbiJson<{ cases: Case[] }>(`window/${name}.json`).cases;
  expect(found.length).toBeGreaterThanOrEqual(min);
  return found;
}

const known = (value: number | null) => value ?? undefined;

describe("abi/window", () => {
  test("setting.json: a text is auto, a number, or wrong at a place", () => {
    for (const { text, setting, code, line, column } of cases("setting", 25)) {
      const parsed = parseWindowSetting(text);
      if (code === undefined) {
        expect([text, parsed]).toEqual([text, { ok: true, value: setting }]);
        expect(formatWindowSetting(setting)).toBe(text);
      } else expect([text, parsed]).toMatchObject([text, { ok: false, code, line, column }]);
    }
  });

  test("effective.json", () => {
    for (const { setting, maximum, effective } of cases("effective", 7)) {
      expect(effectiveWindow(setting, known(maximum)) ?? null).toBe(effective);
    }
  });

  test("admissible.json: a pair that may not stand throws before anything is written", () => {
    for (const { setting, maximum, admissible, code } of cases("admissible", 12)) {
      const check = () => checkWindowPair(setting, { name: "a/b", maximum: known(maximum) });
      if (admissible) expect(check).not.toThrow();
      else expect(check).toThrow(expect.objectContaining({ code }));
    }
  });

  test("fallback.json: a candidate has a window or a reason", () => {
    for (const { setting, candidates, results } of cases("fallback", 4)) {
      const said = candidates.map(({ name, maximum }) => {
        const { eligible, ...rest } = candidateWindow(setting, { name, maximum: known(maximum) });
        expect(eligible).toBe("window" in rest);
        return "window" in rest ? { window: rest.window ?? null } : rest;
      });
      expect(said).toEqual([...results] as typeof said);
    }
  });

  test("budget.json", () => {
    for (const one of cases("budget", 20)) {
      const tokens = known(one.tokens);
      expect({ tokens, environment: windowEnvironment(tokens) }).toEqual({
        tokens,
        environment: one.environment,
      });
      expect([tokens, skillsCharacters(tokens)]).toEqual([tokens, one.skills_characters]);
      if (tokens === undefined) continue;
      const said = [tokens, outputReserve(tokens), promptCharacters(tokens)];
      expect(said).toEqual([tokens, one.output_reserve as number, one.prompt_characters as number]);
    }
  });

  test("admission.json: what does not fit is EMSGSIZE before anything is sent", () => {
    for (const { tokens, messages, charge, fits, code } of cases("admission", 8)) {
      expect(promptCharge(messages)).toBe(charge);
      const admit = () => admitPrompt(known(tokens), charge);
      if (fits) expect(admit).not.toThrow();
      else expect(admit).toThrow(expect.objectContaining({ code }));
    }
  });
});

describe("the arithmetic of any window", () => {
  const tokens = fc.oneof(
    fc.integer({ min: 1, max: budgetMax }),
    fc.integer({ min: 1, max: 70_000 }),
    fc.integer({ min: 2 ** 30 - 10, max: 2 ** 30 + 10 }),
  );

  test("stays within a u32, grows with the window and leaves room for the answer", () => {
    fc.assert(
      fc.property(tokens, tokens, (a, b) => {
        const [less, more] = a < b ? [a, b] : [b, a];
        for (const of of [windowCharacters, outputReserve, promptCharacters, skillsCharacters]) {
          expect(Number.isInteger(of(less)) && of(less) >= 0 && of(less) <= budgetMax).toBe(true);
          expect(of(more)).toBeGreaterThanOrEqual(of(less));
        }
        expect(promptCharacters(less) + 4 * outputReserve(less)).toBe(windowCharacters(less));
      }),
    );
  });
});
