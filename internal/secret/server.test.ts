import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import {
  listSecrets,
  listServerSecrets,
  readServerPin,
  readServerSecret,
  removeServerSecret,
  type SecretPlaces,
  writeSecret,
  writeServerPin,
  writeServerSecret,
} from "./mod.ts";

let base: string;
let places: SecretPlaces;
beforeEach(() => {
  base = mkdtempSync("/tmp/ctx-server-secret-");
  places = { secrets: `${base}/secrets`, uid: process.getuid?.() ?? 0 };
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

test("a value is a file of its own, which nobody else can read", () => {
  expect(readServerSecret(places, "github", "TOKEN")).toBeUndefined();
  writeServerSecret(places, "github", "TOKEN", "s3cret\n");
  writeServerSecret(places, "github", "A_1", "other");
  const file = `${base}/secrets/mcp/github/TOKEN`;
  expect([readFileSync(file, "utf8"), statSync(file).mode & 0o777]).toEqual(["s3cret\n", 0o600]);
  expect(readServerSecret(places, "github", "TOKEN")).toBe("s3cret");
  expect(listServerSecrets(places, "github")).toEqual(["A_1", "TOKEN"]);
  expect(listServerSecrets(places, "memory")).toEqual([]);
  expect(removeServerSecret(places, "github", "TOKEN")).toBe(true);
  expect(removeServerSecret(places, "github", "TOKEN")).toBe(false);
});

test("one that others could read is refused, and not mended", () => {
  writeServerSecret(places, "github", "TOKEN", "s3cret");
  chmodSync(`${base}/secrets/mcp/github/TOKEN`, 0o644);
  expect(() => readServerSecret(places, "github", "TOKEN")).toThrow("is open to others");
  expect(() => writeServerSecret(places, "github", "TOKEN", "new")).toThrow("is open to others");
});

test("names that lead elsewhere are refused", () => {
  for (const [server, variable] of [
    ["../provider", "TOKEN"],
    ["github", "../TOKEN"],
    ["github", "A-B"],
    ["github", ""],
    ["github", "1A"],
    ["github", "X".repeat(201)],
  ] as const) {
    expect(() => writeServerSecret(places, server, variable, "x")).toThrow("is not valid");
  }
});

test("setting a value forgets what the values were given to", () => {
  writeServerSecret(places, "github", "TOKEN", "s3cret");
  writeServerPin(places, "github", "a".repeat(64));
  expect(readServerPin(places, "github")).toBe("a".repeat(64));
  expect(readServerPin(places, "memory")).toBeUndefined();
  writeServerSecret(places, "github", "TOKEN", "s3cret");
  expect(readServerPin(places, "github")).toBeUndefined();
});

test("a provider's slots are listed by their names", () => {
  expect(listSecrets(places, "openai")).toEqual([]);
  writeSecret(places, "openai", "key");
  writeSecret(places, "openai", "key", "work");
  expect(listSecrets(places, "openai")).toEqual(["default", "work"]);
});
