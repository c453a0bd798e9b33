import { expect, test } from "bun:test";
import { parseMountLines } from "./mounts.ts";

const flags = { recursive: true, nosuid: false, nodev: false, noexec: false };

test("a mount line has three parts, with spaces, or with TABs where a path has spaces", () => {
  expect(parseMountLines(["/srv/data /data ro", "/home/me/my work\t/workspace\trw"])).toEqual([
    { source: "/srv/data", target: "/data", access: "ro", ...flags, line: 1 },
    { source: "/home/me/my work", target: "/workspace", access: "rw", ...flags, line: 2 },
  ]);
});

test.each([
  ["", "SOURCE TARGET"],
  ["/srv/data", "SOURCE TARGET"],
  ["/srv/data /data", "SOURCE TARGET"],
  ["/srv/my data /data ro", "SOURCE TARGET"],
  ["/srv/data\t/data\tro\t-", "SOURCE TARGET"],
  ["srv /data ro", "source"],
  ["/srv/../etc /data ro", "source"],
  ["/srv data ro", "target"],
  ["/srv /data/ ro", "target"],
  ["/srv /data wr", "wr"],
  ["/srv /data RW", "RW"],
])("%j is none", (line, what) => {
  expect(() => parseMountLines([line])).toThrow(what);
});
