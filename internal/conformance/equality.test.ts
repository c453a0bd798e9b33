// The judges in the code and the schemas in `abi/` say the same of every golden.

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  acceptGoldens,
  kindsOf,
  type RejectGolden,
  rejectGoldens,
  rulesOf,
  schemaOf,
} from "./goldens.ts";
import { judgeBytes } from "./judge-lines.ts";
import { oracle, validatorOf } from "./oracle.ts";
import { type Protocol, protocols } from "./registry.ts";

setDefaultTimeout(120_000);

/** Goldens of one kind: fewer say too little about where its borders are. */
const acceptsMin = 1;
const rejectsMin = 3;

/** Goldens of a protocol; raise it as they grow, so that none can be lost in silence. */
const goldensMin: Readonly<Record<string, number>> = {
  "op/v1": 100,
  "interaction/v1": 60,
  "interaction/v2": 80,
  "sdk-envelope/v1": 25,
  "control/v1": 60,
  "tool-native/v1": 40,
  "terminal-call/v1": 130,
};

const bytesOf = (text: string) => new TextEncoder().encode(text.replace(/\n$/, ""));

/** What the code says of a golden that must be refused, in the form of the golden. */
function refusalOf(protocol: Protocol, golden: RejectGolden) {
  const judged = judgeBytes(protocol.lineBytesMax, protocol.judge, golden.bytes);
  if (judged.ok) return { file: golden.file, accepted: judged.kind };
  return { file: golden.file, code: judged.code, path: judged.path, by: judged.by };
}

/** A golden of a rule has the rule's name after its kind: `input-identifier-bytes-utf8.json`. */
function namesRule({ file }: RejectGolden, rule: string): boolean {
  return new RegExp(`-${rule}(?:[-.]|$)`).test(file.slice(file.lastIndexOf("/")));
}

for (const protocol of protocols) {
  const { name } = protocol;
  const accept = acceptGoldens(name, "accept");
  const also = acceptGoldens(name, "accept-also");
  const reject = rejectGoldens(name);

  describe(name, () => {
    test("the tables agree with the registry and with the schema", () => {
      const table = kindsOf(name);
      expect(table.line_bytes_max).toBe(protocol.lineBytesMax);
      const schema = schemaOf(name);
      expect(schema["$schema"]).toBe("https://json-schema.org/draft/2020-12/schema");
      expect(schema["$id"]).toBe(`https://cortexfs.invalid/abi/${name}/schema.json`);
      const definitions = schema["$defs"] as Record<string, { description?: string }>;
      const undescribed = table.kinds.filter(({ kind }) => !definitions[kind]?.description);
      expect(undescribed.map(({ kind }) => kind)).toEqual([]);
      // The empty object is a tool's input.
      expect(validatorOf(name)(name === "tool-native/v1" ? [] : {})).toBe(false);
    });

    test("every accept golden is one line, accepted by both and the same when it is encoded", () => {
      const wrong = accept.filter(({ text }) => text.indexOf("\n") !== text.length - 1);
      expect(wrong.map(({ file }) => file)).toEqual([]);
      const said = accept.map(({ file, kind, text }) => ({
        file,
        judged: protocol.judge(text.slice(0, -1)),
        oracle: oracle(protocol, bytesOf(text)),
        again: protocol.canonical(text.slice(0, -1)),
        kind,
      }));
      expect(said).toEqual(
        accept.map(({ file, kind, text }) => ({
          file,
          judged: { ok: true, kind },
          oracle: "accept",
          again: text,
          kind,
        })),
      );
    });

    test("every accept-also golden is accepted by both and becomes another line", () => {
      const said = also.map(({ file, text }) => {
        const line = text.slice(0, -1);
        const judged = protocol.judge(line);
        const again = protocol.canonical(line);
        const twice = protocol.canonical(again.slice(0, -1));
        return {
          file,
          judged: judged.ok ? judged.kind : judged,
          oracle: oracle(protocol, bytesOf(text)),
          same: again === text,
          stable: again === twice,
        };
      });
      expect(said).toEqual(
        also.map(({ file, kind }) => ({
          file,
          judged: kind,
          oracle: "accept",
          same: false,
          stable: true,
        })),
      );
    });

    test("every reject golden is refused by the code with its code, path and reason", () => {
      expect(reject.map((golden) => refusalOf(protocol, golden))).toEqual(
        reject.map(({ file, code, path, by }) => ({ file, code, path, by })),
      );
    });

    test("the schema refuses what it can see and accepts what only a rule refuses", () => {
      // A schema is not asked about framing, of which a protocol may want more than JSON does.
      const asked = reject.filter(({ by }) => by !== "line");
      const expected = (by: string) => (by === "schema" ? "schema" : "accept");
      expect(asked.map(({ file, bytes }) => [file, oracle(protocol, bytes)])).toEqual(
        asked.map(({ file, by }) => [file, expected(by)]),
      );
    });

    test("every kind has its goldens", () => {
      const count = (kind: string, all: readonly { kind: string }[]) =>
        all.filter((golden) => golden.kind === kind).length;
      const few = kindsOf(name).kinds.filter(
        ({ kind }) => count(kind, accept) < acceptsMin || count(kind, reject) < rejectsMin,
      );
      expect(few.map(({ kind }) => kind)).toEqual([]);
      expect(accept.length + also.length + reject.length).toBeGreaterThanOrEqual(
        goldensMin[name] as number,
      );
    });

    test("every rule refuses a golden, and what a rule refuses is of a rule", () => {
      const rules = rulesOf(name);
      const byRule = reject.filter(({ by }) => by === "rule");
      const without = rules.filter(
        ({ kinds, code, name: rule }) =>
          !byRule.some(
            (golden) =>
              namesRule(golden, rule) &&
              golden.code === code &&
              (kinds.includes("*") || kinds.includes(golden.kind)),
          ),
      );
      expect(without.map((rule) => rule.name)).toEqual([]);
      const strangers = byRule.filter(
        (golden) => !rules.some(({ name: rule }) => namesRule(golden, rule)),
      );
      expect(strangers.map(({ file }) => file)).toEqual([]);
    });
  });
}
