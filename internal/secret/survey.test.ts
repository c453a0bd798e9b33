import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, chownSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import {
  listPinnedServers,
  listProviders,
  listServers,
  removeSecret,
  type SecretPlaces,
  surveySecrets,
  writeSecret,
  writeServerPin,
  writeServerSecret,
} from "./mod.ts";

let base: string;
let places: SecretPlaces;
beforeEach(() => {
  base = mkdtempSync("/tmp/ctx-survey-");
  places = { secrets: `${base}/secrets`, uid: process.getuid?.() ?? 0 };
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function fill(): void {
  writeSecret(places, "openai", "sesame-1");
  writeSecret(places, "openai", "sesame-2", "work");
  writeSecret(places, "acme", "sesame-3");
  writeServerSecret(places, "github", "TOKEN", "sesame-4");
  writeServerPin(places, "github", "a".repeat(64));
}

const names = (only?: Parameters<typeof surveySecrets>[1]) =>
  surveySecrets(places, only).stored.map(({ kind, owner, name }) => `${kind} ${owner} ${name}`);
const faults = () =>
  surveySecrets(places).faults.map(({ code, message }) => `${code} ${message.replace(base, "")}`);

test("a store that is not there is empty and in order", () => {
  expect(surveySecrets(places)).toEqual({ stored: [], faults: [] });
  expect([listProviders(places), listServers(places), listPinnedServers(places)]).toEqual([
    [],
    [],
    [],
  ]);
});

test("everything is named, and nothing of what it is", () => {
  fill();
  expect(names()).toEqual([
    "provider acme default",
    "provider openai default",
    "provider openai work",
    "mcp github TOKEN",
  ]);
  expect(names({ kind: "provider", owner: "openai" })).toHaveLength(2);
  expect(names({ kind: "mcp", owner: "github" })).toEqual(["mcp github TOKEN"]);
  expect(names({ kind: "mcp", owner: "openai" })).toEqual([]);
  expect(JSON.stringify(surveySecrets(places))).not.toContain("sesame");
  expect([listProviders(places), listServers(places)]).toEqual([["acme", "openai"], ["github"]]);
  expect(listPinnedServers(places)).toEqual(["github"]);
});

test("what was removed is not stored, and a write that was cut off is nothing", () => {
  fill();
  removeSecret(places, "acme");
  writeFileSync(`${base}/secrets/provider/openai/.default.tmp`, "half", { mode: 0o600 });
  expect(names({ kind: "provider", owner: "acme" })).toEqual([]);
  expect(names({ kind: "provider", owner: "openai" })).toHaveLength(2);
  expect(faults()).toEqual([]);
});

test("each that is refused is a fault, and the others are still named", () => {
  fill();
  chmodSync(`${base}/secrets/provider/openai/work`, 0o644);
  chmodSync(`${base}/secrets/provider/acme`, 0o755);
  rmSync(`${base}/secrets/mcp/github/TOKEN`);
  symlinkSync("/etc/hostname", `${base}/secrets/mcp/github/TOKEN`);
  chmodSync(`${base}/secrets/mcp-entry/github/sha256`, 0o666);
  expect(names()).toEqual(["provider openai default"]);
  const refused = (path: string, why: string) =>
    `EACCES cannot use secret "/secrets/${path}": it ${why}`;
  expect(faults()).toEqual([
    refused("provider/acme", "is open to others (mode 0755)"),
    refused("provider/openai/work", "is open to others (mode 0644)"),
    refused("mcp/github/TOKEN", "is a symlink"),
    refused("mcp-entry/github/sha256", "is open to others (mode 0666)"),
  ]);
  expect(surveySecrets(places).faults[1]?.hint).toContain("chmod 0600");
});

test("a store that is wrong at its top is one fault", () => {
  fill();
  chmodSync(`${base}/secrets`, 0o711);
  expect(faults()).toEqual([
    'EACCES cannot use secret "/secrets": it is open to others (mode 0711)',
  ]);
  expect(() => listServers(places)).toThrow("is open to others");
});

for (const kind of ["mcp", "mcp-entry"]) {
  test(`another owner of the folder ${kind}`, () => {
    if (places.uid !== 0) return console.log("SKIP another owner: chown needs root");
    fill();
    chownSync(`${base}/secrets/${kind}`, 61184, 61184);
    expect(faults()).toEqual([
      expect.stringContaining(`${kind}": it belongs to uid 61184, not to 0`),
    ]);
  });
}
