// Making an object appear, whole or not at all. Everything is staged in one folder of a name that no
// object has and synced; the controls get their name first, with the executable still inside them,
// and the executable last, each by a rename that replaces nothing. What a cut run leaves has no
// executable of its name and so is no object; it is listed as residue and never guessed about.

import { closeSync, fsyncSync, lstatSync, mkdirSync } from "node:fs";
import { CodedError, coded, fail, quoted } from "../abi/mod.ts";
import { openBeneath, renameNoReplace, throughFolder } from "../os/mod.ts";
import { type CheckedManifest, copyExecutable } from "./artifact.ts";
import { type ControlContext, newControls } from "./controls.ts";
import { type Managed, managedObject } from "./managed.ts";
import {
  type InstallReceipt,
  type InstallTier,
  receiptName,
  receiptSchema,
  receiptText,
} from "./receipt.ts";
import { exchange, keptControls, undoCutReplace } from "./replace.ts";
import {
  fillStaged,
  identityAt,
  identityOf,
  removeTree,
  sameFile,
  stagedExecutable,
  stagingName,
} from "./staged.ts";
import {
  bare,
  checkSource,
  ensureUserFolder,
  type ObjectPlace,
  ownerOf,
  placeFor,
  rightsHint,
  withFolder,
} from "./target.ts";

export interface InstallOptions extends ControlContext {
  readonly checked: CheckedManifest;
  readonly tier: InstallTier;
  /** Whose home the user tier is. */
  readonly uid: number;
  /** Takes the place of what was installed before under this name. */
  readonly replace: boolean;
  readonly now: Date;
  /** Told before each step; for tests that cut it there. */
  readonly step?: (name: string) => void;
}

export interface Installed extends ObjectPlace {
  readonly receipt: InstallReceipt;
  /** Controls that were kept although the manifest says otherwise. */
  readonly kept: readonly string[];
}

/**
 * Installs what was checked. Throws EEXIST when the name is taken, EINVAL for a view and for what the
 * manifest may not say, EACCES when what would be replaced is not what was installed.
 */
export function installObject(options: InstallOptions): Installed {
  const { tree, tier, uid, checked, replace } = options;
  const { manifest } = checked;
  checkSource(tree);
  const place = placeFor(manifest.class, manifest.name, tier, uid);
  const controls = newControls(options, manifest);
  if (tier === "user") ensureUserFolder(tree, uid);
  return withFolder(tree, place.folder, (folder) => {
    undoCutReplace(folder, place);
    if (!replace) checkFree(folder, place);
    const old = replace ? managedObject(folder, place) : undefined;
    const work = { ...options, folder, place, old };
    try {
      return { ...place, ...stageAndPublish(work, controls) };
    } catch (error) {
      throw installRefusal(place, error);
    }
  });
}

interface Work extends InstallOptions {
  readonly folder: number;
  readonly place: ObjectPlace;
  readonly old: Managed | undefined;
}

function stageAndPublish(work: Work, controls: Map<string, string>) {
  const { folder, place, old, step } = work;
  const kept = old && keptControls(folder, place, controls);
  const staging = stagingName(place.name);
  step?.("make");
  mkdirSync(throughFolder(folder, staging), { mode: 0o700 });
  try {
    const staged = openBeneath(folder, staging, "folder");
    try {
      step?.("fill");
      const receipt = fill(work, staged, laidOver(controls, kept?.texts));
      step?.("publish");
      if (old && kept) exchange({ folder, place, staging, staged, old, kept, step });
      else publishNew(work, staging, staged);
      return { receipt, kept: kept?.differing ?? [] };
    } finally {
      closeSync(staged);
    }
  } catch (error) {
    quietly(() => removeTree(folder, staging));
    throw error;
  }
}

function laidOver(
  controls: ReadonlyMap<string, string>,
  kept: ReadonlyMap<string, Uint8Array> | undefined,
): ReadonlyMap<string, string | Uint8Array> {
  const laid = new Map<string, string | Uint8Array>(controls);
  for (const [name, bytes] of kept ?? []) laid.set(name, bytes);
  return laid;
}

/** What cannot be undone stays as residue; the first failure is the one that is told. */
function quietly(undo: () => void): void {
  try {
    undo();
  } catch {
    // It is listed by the audit.
  }
}

function fill(
  { folder, place, checked, old, tier, now, step }: Work,
  staged: number,
  controls: ReadonlyMap<string, string | Uint8Array>,
): InstallReceipt {
  const { manifest, sha256, definition } = checked;
  let copied = { sha256: "", bytes: 0 };
  let made: InstallReceipt | undefined;
  const copy = (fd: number) => {
    copied = copyExecutable(checked, fd);
    step?.("controls");
  };
  const receipt = (identity: { dev: string; ino: string }) => {
    made = {
      schema: receiptSchema,
      class: manifest.class,
      name: place.name,
      version: manifest.version,
      tier,
      executable: { ...identity, ...copied },
      manifest_sha256: sha256,
      ...(definition === undefined ? {} : { definition }),
      installed_at: now.toISOString(),
      ...(old === undefined ? {} : { previous: old.receiptSha256 }),
    };
    step?.("receipt");
    return receiptText(made);
  };
  fillStaged(staged, { controls, copy, receipt }, ownerOf(folder), receiptName);
  return made ?? fail("EIO", `no receipt was made for ${quoted(place.object)}`);
}

function publishNew({ folder, place, step }: Work, staging: string, staged: number): void {
  const controls = `${place.name}.d`;
  renameNoReplace(folder, staging, folder, controls);
  try {
    fsyncSync(folder);
    step?.("executable");
    renameNoReplace(staged, stagedExecutable, folder, place.name);
  } catch (error) {
    quietly(() => {
      if (!sameFile(identityAt(folder, controls), identityOf(staged))) return;
      renameNoReplace(folder, controls, folder, staging);
      fsyncSync(folder);
    });
    throw error;
  }
  fsyncSync(staged);
  fsyncSync(folder);
  step?.("done");
}

function checkFree(folder: number, { object, folder: above, name }: ObjectPlace): void {
  const facts = (what: string) => lstatSync(throughFolder(folder, what), { throwIfNoEntry: false });
  if (facts(name) !== undefined) {
    fail("EEXIST", `${quoted(object)} exists already`, {
      hint: "what was installed is replaced with --replace; see ctx object inspect",
    });
  }
  if (facts(`${name}.d`) === undefined) return;
  fail("EEXIST", `"${above}/${name}.d" is there already, without an executable`, {
    hint: "see ctx object residue audit, or move it away",
  });
}

function installRefusal({ object, folder }: ObjectPlace, error: unknown): CodedError {
  if (error instanceof CodedError) return error;
  const { code, message } = coded(error);
  const hint = rightsHint(code, folder);
  return new CodedError(code, `cannot install ${quoted(object)}: ${bare(message)}`, {
    cause: error,
    ...(hint === undefined ? {} : { hint }),
  });
}
