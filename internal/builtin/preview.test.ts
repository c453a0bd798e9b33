import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { previewChange } from "./mod.ts";

const diffOf = (before: string | undefined, content: string) => {
  const preview = previewChange("fs.write", { path: "a.md", content }, before);
  return preview.ok ? preview.diff : `none: ${preview.because}`;
};

/** Takes the hunk of a diff as `patch` would; the whole of both texts comes back. */
function applied(before: string, diff: string): string {
  const [, , header = "", ...body] = diff.slice(0, -1).split("\n");
  const [, from = "0", length = "0"] = /^@@ -(\d+),(\d+) \+\d+,\d+ @@$/.exec(header) ?? [];
  const lines = before.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const start = length === "0" ? Number(from) : Number(from) - 1;
  const old: string[] = [];
  const now: string[] = [];
  for (const [index, line] of body.entries()) {
    if (line.startsWith("\\")) continue;
    const ended = body[index + 1]?.startsWith("\\") ? line.slice(1) : `${line.slice(1)}\n`;
    if (line[0] !== "+") old.push(ended);
    if (line[0] !== "-") now.push(ended);
  }
  expect(old).toEqual(lines.slice(start, start + Number(length)));
  return [...lines.slice(0, start), ...now, ...lines.slice(start + Number(length))].join("");
}

describe("previewChange()", () => {
  test("shows a written file as the difference to what is there", () => {
    expect(diffOf("1\n2\n3\n4\n5\n6\n", "1\n2\n3\n4\nfive\n6\n")).toBe(
      "--- a/a.md\n+++ b/a.md\n@@ -2,5 +2,5 @@\n 2\n 3\n 4\n-5\n+five\n 6\n",
    );
    expect(diffOf(undefined, "x\ny")).toBe(
      "--- /dev/null\n+++ b/a.md\n@@ -0,0 +1,2 @@\n+x\n+y\n\\ No newline at end of file\n",
    );
    expect(diffOf("x\n", "")).toBe("--- a/a.md\n+++ b/a.md\n@@ -1,1 +0,0 @@\n-x\n");
    expect(diffOf("x\n", "x\n")).toBe("none: the file has this content already");
    expect(diffOf(undefined, "")).toBe("--- /dev/null\n+++ b/a.md\n");
  });

  test("of any two texts is a diff that leads from one to the other", () => {
    const text = fc
      .array(fc.constantFrom("a\n", "b\n", "c\n", "\n", "d"), { maxLength: 12 })
      .map((lines) => lines.join(""));
    let compared = 0;
    fc.assert(
      fc.property(text, text, (before, after) => {
        if (before === after) return;
        compared += 1;
        expect(applied(before, diffOf(before, after))).toBe(after);
      }),
    );
    expect(compared).toBeGreaterThan(20);
  });

  test("shows an edit of any length whole, and says why there is none", () => {
    const before = "old\n".repeat(300);
    const edit = { path: "a.md", old: "old", new: "new", count: 300 };
    const preview = previewChange("fs.replace", edit, before);
    expect(preview.ok && preview.diff.match(/^\+new$/gm)?.length).toBe(300);
    const because = (args: object, text: string | undefined) => {
      const found = previewChange("fs.replace", { ...edit, ...args }, text);
      return found.ok ? "" : found.because;
    };
    expect(because({}, undefined)).toBe("the file does not exist");
    expect(because({ count: 1 }, before)).toContain("occurs 300 times");
    expect(because({ old: "" }, before)).toContain("occurs 0 times");
  });
});
