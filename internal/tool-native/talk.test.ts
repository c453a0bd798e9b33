// Whole calls of abi/tool-native/v1/talk: what a tool printed and how it ended, and the answer that the
// host makes of it.

import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { abiFolder } from "../../testdata/abi/folder.ts";
import { encodeToolInput, nativeAnswer } from "./mod.ts";

const folder = join(abiFolder, "tool-native/v1/talk");
const files = readdirSync(folder).sort();

function readTalk(file: string): Record<string, unknown>[] {
  const text = readFileSync(join(folder, file), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** The one value that the steps give under a name. */
function given<T>(steps: readonly Record<string, unknown>[], name: string): T | undefined {
  const values = steps.flatMap((step) => (Object.hasOwn(step, name) ? [step[name]] : []));
  expect(values.length).toBeLessThanOrEqual(1);
  return values[0] as T | undefined;
}

describe("abi/tool-native/v1/talk", () => {
  test("holds its talks", () => {
    expect(files.length).toBeGreaterThanOrEqual(22);
  });

  for (const file of files) {
    const [header, ...steps] = readTalk(file);
    test(`${file}: ${header?.["about"]}`, () => {
      const talk = `tool-native/${file.replace(/\.jsonl$/, "")}`;
      expect(header).toMatchObject({ talk, abi: "tool-native/v1" });
      const input = given<object>(steps, "stdin");
      expect(encodeToolInput(input)).toBe(`${JSON.stringify(input)}\n`);
      const bytes = Uint8Array.fromBase64(given<string>(steps, "stdout_bytes") ?? "");
      const stdout = given<string>(steps, "stdout") ?? new TextDecoder().decode(bytes);
      const stderr = given<string>(steps, "stderr") ?? "";
      const exit = given<number>(steps, "exit");
      expect(nativeAnswer(stdout, stderr, exit as number, undefined)).toEqual(
        given(steps, "outcome") as ReturnType<typeof nativeAnswer>,
      );
    });
  }
});
