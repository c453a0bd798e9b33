import { expect, test } from "bun:test";
import { namedWords } from "./exec-words.ts";

const properties = {
  query: { type: "string" },
  limit: { type: "integer" },
  open: { type: "boolean" },
  labels: { type: "array" },
  any: {},
  both: { type: ["string", "null"] },
};

const read = (...words: string[]) => ({ ...namedWords("github.search", words, properties) });

test("the schema gives words their names and types", () => {
  expect(read("--query", "is:open", "--limit=5", "--open", "--labels", '["a"]')).toEqual({
    query: "is:open",
    limit: 5,
    open: true,
    labels: ["a"],
  });
  expect(read("--query", "5", "--any", "5", "--both=5")).toEqual({
    query: "5",
    any: "5",
    both: "5",
  });
  expect(read("--query=--limit", "--open=false")).toEqual({ query: "--limit", open: false });
});

test("what the schema does not have is refused, by its name", () => {
  for (const [words, said] of [
    [["--nothing", "1"], 'does not take "--nothing"'],
    [["bare"], 'does not take "bare"'],
    [["--__proto__", "1"], "does not take"],
    [["--query"], "needs a value after --query"],
    [["--limit", "five"], "needs integer for --limit"],
    [["--open", "--open"], "twice"],
  ] as const) {
    expect(() => read(...words)).toThrow(said);
  }
});
