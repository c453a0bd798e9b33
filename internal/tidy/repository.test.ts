import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { codes } from "../abi/mod.ts";
import { repositoryFiles, top } from "./tree.ts";

const files = repositoryFiles();
const read = (path: string) => readFileSync(join(top, path), "utf8");

/** Folders that every machine has; the parent of a clone may be one of them. */
const everywhere = ["/", "/tmp", "/home", "/root", "/usr/src", "/opt", "/var/tmp", "/workspace"];

test("no file names a folder of the machine it was written on", () => {
  const parent = dirname(top);
  const places = [`${top}/`, ...(everywhere.includes(parent) ? [] : [`${parent}/`])];
  expect(files.length).toBeGreaterThan(100);
  const naming = files.filter((path) => places.some((place) => read(path).includes(place)));
  expect(naming).toEqual([]);
});

test("no file names the host of a package registry", () => {
  const host = /https?:\/\/[a-z0-9.-]*(?:registry|mirror)[a-z0-9.-]*/;
  const naming = files.filter((path) => host.test(read(path)));
  expect(naming).toEqual([]);
});

test("the lock file pins versions and hashes and leaves the registry to the machine", () => {
  const lock = JSON.parse(read("package-lock.json")) as {
    packages: Record<string, { resolved?: string; integrity?: string; version?: string }>;
  };
  const entries = Object.entries(lock.packages).filter(([path]) => path !== "");
  expect(entries.length).toBeGreaterThan(20);
  expect(entries.filter(([, one]) => one.resolved !== undefined)).toEqual([]);
  expect(entries.filter(([, one]) => !one.integrity || !one.version)).toEqual([]);
});

test("every dependency is pinned to one version", () => {
  const { dependencies, devDependencies } = JSON.parse(read("package.json")) as {
    dependencies: Record<string, string>;
    devDependencies: Record<string, string>;
  };
  const versions = Object.entries({ ...dependencies, ...devDependencies });
  expect(versions.length).toBeGreaterThan(5);
  expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
});

test("docs/errors.md has one row for every code, with its exit status and whether to try again", () => {
  const rows = Object.entries(codes).map(
    ([code, { exit, retryable, meaning }]) =>
      `| \`${code}\` | ${exit} | ${retryable ? "yes" : "no"} | ${meaning} |`,
  );
  const documented = read("docs/errors.md")
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  expect(documented).toEqual(rows);
});

test("a link in a document leads to a file", () => {
  const documents = files.filter((path) => path.endsWith(".md"));
  expect(documents.length).toBeGreaterThan(5);
  const dead = documents.flatMap((path) =>
    [...read(path).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
      .map((match) => match[1] as string)
      .filter((target) => !/^[a-z]+:/.test(target))
      .filter((target) => !existsSync(join(top, dirname(path), target)))
      .map((target) => `${path}: ${target}`),
  );
  expect(dead).toEqual([]);
});
