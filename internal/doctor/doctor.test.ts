import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ownerUid, Place } from "../../testdata/cli/program.ts";
import { resolvePlaces } from "../tree/mod.ts";
import { placeChecks } from "./place-checks.ts";
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
