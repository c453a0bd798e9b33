import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ownerUid, Place } from "../../testdata/cli/program.ts";
import { writeServerPin, writeServerSecret } from "../secret/mod.ts";
import { resolvePlaces } from "../tree/mod.ts";
import type { Check } from "./check.ts";
import { placeChecks } from "./place-checks.ts";
import { terminalChecks } from "./terminal-checks.ts";
import { treeChecks } from "./tree-checks.ts";

setDefaultTimeout(120_000);

const place = new Place();
const places = resolvePlaces({ env: place.env, uid: process.getuid?.() ?? 0 });
beforeAll(() => place.bootstrap());
afterAll(() => place.remove());

const failures = () =>
  [...treeChecks(places), ...placeChecks(places)].filter(({ level }) => level === "fail");

test("a fresh tree has nothing that fails", () => {
  expect(failures()).toEqual([]);
});

test("a malformed control is named with its file, and other checks go on", () => {
  const path = join(place.source, "agent/coder.d/perm");
  writeFileSync(path, "rwz\n");
  expect(failures()).toEqual([
    expect.objectContaining({
      name: "agent coder",
      text: expect.stringContaining("agent/coder.d/perm"),
    }),
  ]);
  writeFileSync(path, "rwx\n");
});

test("a session in error is found by its state file", () => {
  const folder = join(place.source, `home/${ownerUid}/agent/coder/session/broken`);
  mkdirSync(folder);
  writeFileSync(join(folder, "state"), "error\n");
  expect(failures()).toEqual([
    expect.objectContaining({ name: "sessions", text: "in error: coder/broken" }),
  ]);
  writeFileSync(join(folder, "state"), "done\n");
});

test("of many sessions in error a few are named and the rest is counted", () => {
  const base = join(place.source, `home/${ownerUid}/agent/coder/session`);
  const folders = [1, 2, 3, 4, 5, 6].map((number) => join(base, `many-${number}`));
  for (const folder of folders) {
    mkdirSync(folder);
    writeFileSync(join(folder, "state"), "error\n");
  }
  const [found] = failures();
  expect(found?.text).toMatch(/^in error: (coder\/many-\d, ){3}coder\/many-\d and 2 more$/);
  for (const folder of folders) writeFileSync(join(folder, "state"), "done\n");
});

test("a wrong mode of the runtime folder or the secrets says which chmod mends it", () => {
  const { runtime, secrets } = places;
  mkdirSync(runtime);
  mkdirSync(secrets);
  chmodSync(runtime, 0o777);
  chmodSync(secrets, 0o755);
  expect(failures().map(({ name, fix }) => [name, fix])).toEqual([
    ["runtime", expect.stringMatching(/chmod 07[05][05] /)],
    ["secrets", expect.stringMatching(/chmod 0700 /)],
  ]);
});

test("a secret of a server, and what its secrets were given to, are looked at too", () => {
  chmodSync(places.runtime, 0o755);
  chmodSync(places.secrets, 0o700);
  writeServerSecret(places, "github", "TOKEN", "s3cret");
  writeServerPin(places, "github", "a".repeat(64));
  expect(failures()).toEqual([]);
  const told = placeChecks(places).find(({ name }) => name === "secrets");
  expect(told?.text).toBe("1 stored");
  for (const folder of ["mcp", "mcp-entry"]) {
    chmodSync(join(places.secrets, folder), 0o755);
    expect(failures()).toMatchObject([
      { name: "secrets", fix: expect.stringContaining(`chmod 0700 "${places.secrets}/${folder}"`) },
    ]);
    chmodSync(join(places.secrets, folder), 0o700);
  }
});

describe("a user's own server", () => {
  const user = { ...places, mode: "user", uid: ownerUid } as const;
  const told = (checks: readonly Check[], name: string) => checks.find((one) => one.name === name);

  test("cannot run an agent of another uid, and the line to set is named", () => {
    expect(told(treeChecks(user), "agents")?.level).toBe("ok");
    expect(told(treeChecks({ ...user, uid: ownerUid + 1 }), "agent coder")).toMatchObject({
      level: "fail",
      fix: `run ctx set agent/coder.d/uid ${ownerUid + 1}`,
    });
  });

  test("cannot make a runtime folder where it may not write", () => {
    if (process.getuid?.() === 0) return console.log("SKIP root may write everywhere");
    expect(told(placeChecks({ ...user, runtime: "/proc/none/cortexfs" }), "runtime")).toMatchObject(
      { level: "fail", fix: expect.stringContaining("CTX_RUNTIME_DIR") },
    );
  });
});

test("it is said who supervises terminals, and what a logout and a reboot do to them", async () => {
  // With this environment no manager of a user can be meant, whatever the host runs.
  const checks = await terminalChecks({ ...places, uid: ownerUid }, {});
  expect(checks.map(({ name, level }) => [name, level])).toEqual([
    ["supervisor", "ok"],
    ["logout", expect.stringMatching(/^(ok|warn)$/)],
    ["reboot", "ok"],
  ]);
  expect(checks[0]?.text).toContain("without systemd: XDG_RUNTIME_DIR is not set");
});
