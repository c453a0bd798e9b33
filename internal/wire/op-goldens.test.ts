// Every golden file of the op wire and of interaction v1, judged by the code and by schema.json: both
// must say what the file says.

import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import Ajv2020 from "ajv/dist/2020.js";
import { opLineBytesMax } from "../abi/mod.ts";
import { LineDecoder } from "../frame/mod.ts";
import type { Examined } from "./examine.ts";
import { canonicalOp, canonicalV1, judgeOp, judgeV1 } from "./mod.ts";
import { examineOp } from "./op-judge.ts";
import { examineV1 } from "./v1-judge.ts";

const abi = resolve(import.meta.dir, "../../abi");

interface Wire {
  readonly name: string;
  readonly judge: typeof judgeOp;
  readonly canonical: typeof canonicalOp;
  readonly examine: (line: string) => Examined;
}

const wires: readonly Wire[] = [
  { name: "op/v1", judge: judgeOp, canonical: canonicalOp, examine: examineOp },
  { name: "interaction/v1", judge: judgeV1, canonical: canonicalV1, examine: examineV1 },
];

interface Named {
  readonly kind: string;
}

for (const { name, judge, canonical, examine } of wires) {
  const read = (file: string) => readFileSync(join(abi, name, file), "utf8");
  const files = (folder: string) => readdirSync(join(abi, name, folder)).sort();
  const kindOf = (file: string) => file.replace(/\.json$/, "").split("-", 1)[0] ?? "";
  const validate = new Ajv2020({
    strict: true,
    strictRequired: false,
    allowUnionTypes: true,
  }).compile(JSON.parse(read("schema.json")));
  const kinds = (JSON.parse(read("kinds.json")) as { kinds: Named[] }).kinds.map(
    ({ kind }) => kind,
  );

  describe(`goldens of ${name}`, () => {
    test("accept: judged by their kind, and encoded again to the same bytes", () => {
      for (const file of files("accept")) {
        const text = read(`accept/${file}`);
        const line = text.slice(0, -1);
        expect([file, judge(line)]).toEqual([file, { ok: true, kind: kindOf(file) }]);
        expect([file, validate(JSON.parse(line))]).toEqual([file, true]);
        expect(canonical(line)).toBe(text);
      }
    });

    test("accept-also: judged by their kind, and other bytes when they are encoded again", () => {
      for (const file of files("accept-also")) {
        const text = read(`accept-also/${file}`);
        const line = text.slice(0, -1);
        expect([file, judge(line)]).toEqual([file, { ok: true, kind: kindOf(file) }]);
        expect([file, validate(JSON.parse(line))]).toEqual([file, true]);
        const again = canonical(line);
        expect(again).not.toBe(text);
        expect(canonical(again.slice(0, -1))).toBe(again);
      }
    });

    test("reject: refused with the code, at the place and by whom the file says", () => {
      for (const file of files("reject")) {
        const { code, path, by, ...golden } = JSON.parse(read(`reject/${file}`));
        const [result] = new LineDecoder(opLineBytesMax).push(bytesOf(golden));
        if (result === undefined) throw new Error(`${file} is no line`);
        if (!result.ok) {
          expect([file, result.code, "", "line"]).toEqual([file, code, path, by]);
          continue;
        }
        expect([file, judge(result.line)]).toMatchObject([file, { ok: false, code, path, by }]);
        if (by === "line") continue;
        const accepted = validate(JSON.parse(result.line));
        expect([file, accepted]).toEqual([file, by === "rule"]);
      }
    });

    test("every kind is accepted once and refused three times, every rule refuses once", () => {
      const count = (folder: string, kind: string) =>
        files(folder).filter((file) => kindOf(file) === kind).length;
      for (const kind of kinds) {
        expect([kind, count("accept", kind) >= 1]).toEqual([kind, true]);
        expect([kind, count("reject", kind) >= 3]).toEqual([kind, true]);
      }
      const all = [...files("accept"), ...files("accept-also"), ...files("reject")];
      expect(all.filter((file) => !kinds.includes(kindOf(file)))).toEqual([]);
      const broken = new Set<string>();
      for (const file of files("reject")) {
        const golden = JSON.parse(read(`reject/${file}`));
        const examined = golden.by === "rule" ? examine(textOf(golden)) : undefined;
        if (examined?.ok === false && examined.rule !== undefined) broken.add(examined.rule);
      }
      const rules = (JSON.parse(read("rules.json")) as { name: string }[]).map((rule) => rule.name);
      expect([...broken].sort()).toEqual(rules.sort());
    });

    test("schema.json describes every kind of kinds.json", () => {
      const { $defs } = JSON.parse(read("schema.json"));
      for (const kind of kinds) {
        expect([kind, typeof $defs[kind]?.description]).toEqual([kind, "string"]);
      }
      expect(new Set(kinds).size).toBe(kinds.length);
      expect(kinds.length).toBeGreaterThan(13);
    });
  });
}

interface Golden {
  readonly [field: string]: unknown;
}

function textOf({ line, before, unit, times, after }: Golden): string {
  if (typeof line === "string") return line;
  return `${before}${String(unit).repeat(Number(times))}${after}`;
}

function bytesOf(golden: Golden): Uint8Array {
  const base64 = golden["line_base64"];
  if (typeof base64 !== "string") return new TextEncoder().encode(`${textOf(golden)}\n`);
  return Buffer.concat([Buffer.from(base64, "base64"), Buffer.from("\n")]);
}
