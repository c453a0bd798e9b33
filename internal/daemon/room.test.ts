import { expect, test } from "bun:test";
import { connectionsMax, openFilesMax } from "./room.ts";

test("openFilesMax() reads the soft limit and takes 1024 when there is none", () => {
  const text =
    "Limit            Soft Limit  Hard Limit  Units\nMax open files   512   4096   files\n";
  expect(openFilesMax(text)).toBe(512);
  expect(openFilesMax("Max open files   unlimited   unlimited   files\n")).toBe(1024);
  expect(openFilesMax("")).toBe(1024);
  expect(connectionsMax()).toBeGreaterThan(0);
});
