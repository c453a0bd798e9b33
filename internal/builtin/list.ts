// fs.list and fs.stat: what is there, one JSON object a line, nothing followed. A folder that
// cannot be read is an entry with a reason, not the end of the listing.

import { lstatSync, readdirSync, readlinkSync, type Stats, statSync } from "node:fs";
import { coded, fail, observationBytesMax } from "../abi/mod.ts";
import { absolute, listedKind, naming } from "./files.ts";
import { type Audience, type BuiltinResult, type Input, ok } from "./result.ts";

/** Entries in one listing, and the default. Past it the listing is cut and says so. */
const entriesMax = 10_000;
const entriesUsual = 1000;

/** Levels of folders below the listed one. Past it EINVAL. */
const depthMax = 32;

/** Bytes given to a model that names no limit: what fits its observation with the note. */
const nativeListBytes = observationBytesMax - 512;

function octal(facts: Stats): string {
  return (facts.mode & 0o7777).toString(8).padStart(4, "0");
}

function describe(path: string, facts: Stats): Record<string, unknown> {
  return {
    path,
    type: listedKind(facts),
    size: facts.size,
    mode: octal(facts),
    mtime: facts.mtime.toISOString(),
  };
}

export function stat(input: Input, cwd: string): BuiltinResult {
  const shown = input.path();
  const path = absolute(cwd, shown);
  return naming("look at", shown, () => {
    const facts = lstatSync(path);
    const entry = { ...describe(shown, facts), uid: facts.uid, gid: facts.gid };
    const target = facts.isSymbolicLink() ? { target: readlinkSync(path) } : {};
    return ok(`${JSON.stringify({ ...entry, ...target })}\n`);
  });
}

export function list(input: Input, cwd: string, audience: Audience): BuiltinResult {
  const shown = input.path();
  const depth = input.whole("depth", 1) ?? 1;
  if (depth > depthMax) fail("EINVAL", `fs.list goes at most ${depthMax} levels deep`);
  const asked = input.whole("limit", 1);
  const top = absolute(cwd, shown);
  const facts = naming("list", shown, () => statSync(top));
  if (!facts.isDirectory()) fail("EINVAL", `cannot list ${JSON.stringify(shown)}: not a folder`);
  const bytesMax = audience === "native" && asked === undefined ? nativeListBytes : Infinity;
  const listing = new Listing(Math.min(asked ?? entriesUsual, entriesMax), bytesMax);
  naming("list", shown, () => listing.walk(top, "", depth));
  const hint = "list a folder below it, or give a limit";
  const note = listing.full ? `[cut after ${listing.lines.length} entries; ${hint}]` : undefined;
  return ok(listing.lines.join(""), note);
}

class Listing {
  readonly lines: string[] = [];
  full = false;
  #bytes = 0;
  readonly #entriesMax: number;
  readonly #bytesMax: number;

  constructor(max: number, bytesMax: number) {
    this.#entriesMax = max;
    this.#bytesMax = bytesMax;
  }

  /** Adds what is in `folder`, sorted by name, each subfolder followed by its own entries. */
  walk(folder: string, prefix: string, depth: number): void {
    for (const name of readdirSync(folder).sort()) {
      if (this.full) return;
      const path = `${folder}/${name}`;
      // Gone since the folder was read: then it is not there.
      const facts = lstatSync(path, { throwIfNoEntry: false });
      if (facts === undefined) continue;
      this.#add(describe(prefix + name, facts));
      if (!facts.isDirectory() || depth <= 1 || this.full) continue;
      try {
        this.walk(path, `${prefix}${name}/`, depth - 1);
      } catch (error) {
        this.#add({ path: prefix + name, error: coded(error).code });
      }
    }
  }

  #add(entry: Record<string, unknown>): void {
    const line = `${JSON.stringify(entry)}\n`;
    this.#bytes += Buffer.byteLength(line);
    if (this.lines.length >= this.#entriesMax || this.#bytes > this.#bytesMax) this.full = true;
    else this.lines.push(line);
  }
}
