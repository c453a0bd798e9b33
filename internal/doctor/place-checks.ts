// Are the folders of live state, secrets and providers what they must be. Nothing is made or mended
// here: a folder that looks wrong may be somebody's trap.

import { accessSync, constants, lstatSync } from "node:fs";
import { dirname } from "node:path";
import { surveySecrets } from "../secret/mod.ts";
import { ensureRuntimeFolder, loadProviders, type Places, treeRuntime } from "../tree/mod.ts";
import { type Check, failure, failureOf, warning, well } from "./check.ts";

export function placeChecks(places: Places): Check[] {
  return [runtimeCheck(places), ...secretsChecks(places), ...providerChecks(places)];
}

/** The two folders that the server makes; one that is not there yet is no fault. */
function runtimeCheck(places: Places): Check {
  const system = places.mode === "system";
  const folders: [string, number][] = [
    [places.runtime, system ? 0o755 : 0o700],
    [treeRuntime(places), system ? 0o711 : 0o700],
  ];
  for (const [path, mode] of folders) {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return unmade(path);
    try {
      // The folder is there, so this only looks.
      ensureRuntimeFolder(path, mode);
    } catch (error) {
      return failureOf("runtime", error);
    }
  }
  return well("runtime", places.runtime);
}

/** A folder that the server is to make: can it be, below the part of its path that is there. */
function unmade(path: string): Check {
  let above = dirname(path);
  while (lstatSync(above, { throwIfNoEntry: false }) === undefined) above = dirname(above);
  try {
    accessSync(above, constants.W_OK | constants.X_OK);
  } catch {
    const fix = "set CTX_RUNTIME_DIR to a private folder of your own";
    return failure("runtime", `"${path}" cannot be made: "${above}" is not writable`, fix);
  }
  return well("runtime", `"${path}" is made when the server starts`);
}

function secretsChecks(places: Places): Check[] {
  const loose = looseFolder(places);
  if (loose !== undefined) return [loose];
  // A survey reads each one, and reading checks owner and mode of the file and of all above it.
  const { stored, faults } = surveySecrets(places);
  const fix = "folders have mode 0700, keys 0600, and both are yours";
  if (faults.length > 0) return faults.map((fault) => failureOf("secrets", fault, fix));
  return [well("secrets", stored.length === 0 ? "none stored" : `${stored.length} stored`)];
}

/** The store itself, also while it is empty. */
function looseFolder(places: Places): Check | undefined {
  const facts = lstatSync(places.secrets, { throwIfNoEntry: false });
  if (facts === undefined) return undefined;
  const mode = (facts.mode & 0o777).toString(8).padStart(4, "0");
  const fix = `run chmod 0700 "${places.secrets}"`;
  if (facts.uid !== places.uid) {
    const text = `"${places.secrets}" belongs to uid ${facts.uid}, not ${places.uid}`;
    return failure("secrets", text, "move it away and store the keys again");
  }
  if ((facts.mode & 0o777) === 0o700) return undefined;
  return failure("secrets", `the folder has mode ${mode}`, fix);
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
    const fix = `mend the file, for example { "name": "local", "base_url": "http://127.0.0.1:8080/v1" }`;
    return [failureOf("providers", error, fix)];
  }
}
