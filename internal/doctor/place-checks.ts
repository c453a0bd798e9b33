// Are the folders of live state, secrets and providers what they must be. Nothing is made or mended
// here: a folder that looks wrong may be somebody's trap.

import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { coded } from "../abi/mod.ts";
import { readSecret } from "../secret/mod.ts";
import { ensureRuntimeFolder, loadProviders, type Places, treeRuntime } from "../tree/mod.ts";
import { type Check, failure, failureOf, warning, well } from "./check.ts";

export function placeChecks(places: Places): Check[] {
  return [runtimeCheck(places), secretsCheck(places), ...providerChecks(places)];
}

/** The two folders that the server makes; one that is not there yet is no fault. */
function runtimeCheck(places: Places): Check {
  const system = places.mode === "system";
  const folders: [string, number][] = [
    [places.runtime, system ? 0o755 : 0o700],
    [treeRuntime(places), system ? 0o711 : 0o700],
  ];
  for (const [path, mode] of folders) {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) {
      return well("runtime", `"${path}" is made when the server starts`);
    }
    try {
      // The folder is there, so this only looks.
      ensureRuntimeFolder(path, mode);
    } catch (error) {
      return failureOf("runtime", error);
    }
  }
  return well("runtime", places.runtime);
}

function secretsCheck(places: Places): Check {
  const base = join(places.secrets, "provider");
  let count = 0;
  try {
    for (const provider of folderNames(base)) {
      for (const slot of folderNames(join(base, provider))) {
        // Reading checks owner and mode of the file and of every folder above it.
        readSecret(places, provider, slot);
        count++;
      }
    }
  } catch (error) {
    return failureOf("secrets", error);
  }
  return looseFolder(places) ?? well("secrets", count === 0 ? "none stored" : `${count} stored`);
}

/** The store itself, also while it is empty. */
function looseFolder(places: Places): Check | undefined {
  const facts = lstatSync(places.secrets, { throwIfNoEntry: false });
  if (facts === undefined) return undefined;
  const mode = (facts.mode & 0o777).toString(8).padStart(4, "0");
  const fix = `run chmod 0700 "${places.secrets}"`;
  if ((facts.mode & 0o077) !== 0) return failure("secrets", `the folder has mode ${mode}`, fix);
  if (facts.uid === places.uid) return undefined;
  return failure("secrets", `"${places.secrets}" belongs to uid ${facts.uid}, not ${places.uid}`);
}

function folderNames(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if (coded(error).code === "ENOENT") return [];
    throw error;
  }
}

function providerChecks(places: Places): Check[] {
  try {
    const providers = loadProviders(places);
    if (providers.length === 0) {
      return [warning("providers", "none configured; only the debug models answer")];
    }
    return providers.map(({ name, enabled, baseUrl }) =>
      enabled
        ? well("provider", `${name} at ${baseUrl}`)
        : warning("provider", `${name} is disabled`),
    );
  } catch (error) {
    return [failureOf("providers", error)];
  }
}
