import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { abiFolder, readAbiJson } from "../../testdata/abi/folder.ts";
import {
  type ControlClass,
  controlNames,
  decodeControl,
  type Parsed,
  type ShellConfig,
  validateControl,
} from "./mod.ts";

interface Case {
  readonly name: string;
  readonly text?: string;
  readonly base64?: string;
  readonly repeat?: {
    readonly before: string;
    readonly unit: string;
    readonly times: number;
    readonly after: string;
  };
}

interface File {
  readonly control: string;
  readonly classes: readonly ControlClass[];
  readonly valid: readonly (Case & { readonly value: unknown })[];
  readonly invalid: readonly (Case & {
    readonly code: string;
    readonly line: number;
    readonly column: number;
  })[];
}

function bytesOf({ text, base64, repeat }: Case): Uint8Array {
  if (base64 !== undefined) return Uint8Array.fromBase64(base64);
  if (repeat === undefined) return new TextEncoder().encode(text);
  return new TextEncoder().encode(repeat.before + repeat.unit.repeat(repeat.times) + repeat.after);
}

function parse(kind: ControlClass, control: string, one: Case): Parsed<unknown> {
  const text = decodeControl(bytesOf(one));
  return text.ok ? validateControl(kind, control, text.value) : text;
}

/** The value as the files spell it: plain JSON, with the names that a person reads. */
function spelled(control: string, value: unknown): unknown {
  if (value === undefined) return null;
  if (value instanceof Map) return Object.fromEntries(value);
  if (control !== "config") return value;
  const { maxLoadedTools, cacheCapacity, windowPercent } = value as ShellConfig;
  return {
    max_loaded_tools: maxLoadedTools,
    cache_capacity: cacheCapacity,
    window_percent: windowPercent,
  };
}

const names = readdirSync(join(abiFolder, "controls")).sort();
const files = names.map((name) => ({ name, file: readAbiJson<File>(`controls/${name}`) }));

describe("abi/controls", () => {
  test("has every control of every class exactly once", () => {
    for (const kind of ["agent", "tool", "model"] as const) {
      const covered = files
        .filter(({ file }) => file.classes.includes(kind))
        .map(({ file }) => file.control);
      expect([kind, covered.sort()]).toEqual([kind, [...controlNames(kind)].sort()]);
    }
  });

  test("has many cases", () => {
    const valid = files.flatMap(({ file }) => file.valid).length;
    const invalid = files.flatMap(({ file }) => file.invalid).length;
    expect(valid).toBeGreaterThanOrEqual(190);
    expect(invalid).toBeGreaterThanOrEqual(700);
  });

  for (const { name, file } of files) {
    const { control, classes, valid, invalid } = file;
    test(`${name}: valid texts and what they mean`, () => {
      expect(valid.length).toBeGreaterThanOrEqual(1);
      for (const kind of classes) {
        for (const one of valid) {
          const parsed = parse(kind, control, one);
          const said = parsed.ok ? spelled(control, parsed.value) : parsed;
          expect([kind, one.name, said]).toEqual([kind, one.name, one.value]);
        }
      }
    });

    test(`${name}: invalid texts, each with its code and place`, () => {
      expect(invalid.length).toBeGreaterThanOrEqual(8);
      for (const kind of classes) {
        for (const one of invalid) {
          const parsed = parse(kind, control, one);
          const { code: said, ...place } = parsed.ok ? { code: "accepted" } : parsed;
          const { name, code, line, column } = one;
          const expected = { kind, name, said: code, line, column };
          expect({ kind, name, said, ...place }).toMatchObject(expected);
        }
      }
    });
  }
});
