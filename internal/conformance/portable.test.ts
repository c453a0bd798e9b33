// The schemas are for validators in any language, whose regular expressions differ. Held to here: what
// JSON Schema recommends of them, and that `$` may as well match before a last newline, as it does in
// Python, Perl, Java and .NET.

import { expect, test } from "bun:test";
import Ajv2020, { type ValidateFunction } from "ajv/dist/2020.js";
import { abiFiles } from "./files.ts";

const schemas = [...abiFiles()]
  .filter(([path]) => /\/v\d+\/schema\.json$/.test(path))
  .map(([path, text]) => ({ path, folder: path.slice(0, -"schema.json".length), text }));

/** Texts under the key `pattern`, wherever. */
function patternsOf(text: string): string[] {
  const found: string[] = [];
  JSON.parse(text, (key, value: unknown) => {
    if (key === "pattern" && typeof value === "string") found.push(value);
    return value;
  });
  return found;
}

/** Classes, groups, alternatives, counts, anchors, and escapes that mean the same everywhere. */
const portable = /^(?:[^\\?]|(?<!\()\?|\\(?:[.n]|x[0-7][0-9a-f]))*$/;

test("patterns are of what every validator's regular expressions have in common", () => {
  const all = schemas.flatMap(({ path, text }) => patternsOf(text).map((one) => [path, one]));
  expect(all.length).toBeGreaterThan(20);
  expect(all.filter(([, pattern]) => !portable.test(pattern as string))).toEqual([]);
});

test.each(["(?:a)", "(?!a)", "\\d", "\\u0000", "\\s", "\\x80"])("%s is seen", (pattern) => {
  expect(portable.test(pattern)).toBe(false);
});

function compile(text: string, end: string): ValidateFunction {
  const make = (pattern: string, flags: string) =>
    new RegExp(
      pattern.replaceAll("$", () => end),
      flags,
    );
  const regExp = Object.assign(make, { code: "undefined" });
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false });
  ajv.opts.code.regExp = regExp;
  return ajv.compile(JSON.parse(text));
}

/** The value once for each text in it, that text with a newline at its end. */
function* withNewlines(value: unknown): Generator<unknown> {
  if (typeof value === "string") yield `${value}\n`;
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    for (const changed of withNewlines(inner)) {
      const copy = Array.isArray(value) ? [...value] : { ...value };
      Object.assign(copy, { [key]: changed });
      yield copy;
    }
  }
}

test.each(schemas.map(({ folder, text }) => [folder, text]))(
  "%sschema.json says the same where $ matches before a last newline",
  (folder, text) => {
    const [ours, theirs] = [compile(text, "$"), compile(text, "(?=\\n?$)")];
    let judged = 0;
    for (const [path, line] of abiFiles()) {
      if (!path.startsWith(`${folder}accept/`) || line.length > 4096) continue;
      const value: unknown = JSON.parse(line);
      expect([path, ours(value), theirs(value)]).toEqual([path, true, true]);
      for (const changed of withNewlines(value)) {
        judged += 1;
        expect([JSON.stringify(changed), theirs(changed)]).toEqual([
          JSON.stringify(changed),
          ours(changed),
        ]);
      }
    }
    expect(judged).toBeGreaterThan(20);
  },
);
