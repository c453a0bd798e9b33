// Writes the files of projected tools. A file is there whole or not at all, also after a power cut: all
// are written under other names, made durable by one wait, and then renamed. What is there already and
// says something else stays, unless the person wants it replaced.

import {
  closeSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  readdirSync,
  renameSync,
  unlinkSync,
} from "node:fs";
import { coded, fail, isCoded, quoted } from "../../internal/abi/mod.ts";
import {
  openBeneath,
  openPath,
  readWhole,
  syncFileSystem,
  temporaryName,
  throughFolder,
  writeAll,
} from "../../internal/os/mod.ts";

export interface CandidateFile {
  readonly name: string;
  readonly text: string;
  readonly mode: number;
}

/** What belongs to one object, in the order in which it appears. */
export interface Candidate {
  readonly object: string;
  readonly files: readonly CandidateFile[];
}

export interface Outcome {
  readonly object: string;
  readonly what: "written" | "unchanged" | "kept";
  readonly why?: string;
}

/** Throws when the folder cannot be made or written to; nothing half stays there. */
export function writeCandidates(
  folder: string,
  candidates: readonly Candidate[],
  { dryRun, force }: { readonly dryRun: boolean; readonly force: boolean },
): Outcome[] {
  const directory = openFolder(folder, dryRun);
  if (directory === undefined) return candidates.map(({ object }) => ({ object, what: "written" }));
  try {
    const there = new Set(readdirSync(throughFolder(directory, ".")));
    const outcomes = candidates.map((one) => outcomeOf(directory, there, one, force));
    const fresh = candidates.filter((_, index) => outcomes[index]?.what === "written");
    if (!dryRun && fresh.length > 0)
      publish(
        directory,
        fresh.flatMap((one) => one.files),
      );
    return outcomes;
  } catch (error) {
    if (isCoded(error)) throw error;
    const { code, message } = coded(error);
    return fail(code, `cannot write to ${quoted(folder)}: ${message}`, { cause: error });
  } finally {
    closeSync(directory);
  }
}

/** Undefined when it is not there and nothing is to be written. */
function openFolder(folder: string, dryRun: boolean): number | undefined {
  try {
    if (!dryRun) mkdirSync(folder, { recursive: true });
    return openPath(folder, "folder");
  } catch (error) {
    const { code, message } = coded(error);
    if (dryRun && code === "ENOENT") return undefined;
    return fail(code, `cannot open folder ${quoted(folder)}: ${message}`, { cause: error });
  }
}

function outcomeOf(
  directory: number,
  there: ReadonlySet<string>,
  { object, files }: Candidate,
  force: boolean,
): Outcome {
  const states = files.map((file) => {
    return { file, state: there.has(file.name) ? stateOf(directory, file) : "none" };
  });
  const other = states.find(({ state }) => state === "other");
  if (other !== undefined && !force) {
    const why = `${quoted(other.file.name)} says something else, --force replaces it`;
    return { object, what: "kept", why };
  }
  const same = states.every(({ state }) => state === "same");
  return { object, what: same ? "unchanged" : "written" };
}

function stateOf(directory: number, { name, text, mode }: CandidateFile): "same" | "other" {
  let fd: number;
  try {
    fd = openBeneath(directory, name, "read");
  } catch {
    // A symlink, or what cannot be read: it is not what would be written.
    return "other";
  }
  try {
    const wanted = new TextEncoder().encode(text);
    const facts = fstatSync(fd);
    if (!facts.isFile() || facts.size !== wanted.length) return "other";
    const executable = (facts.mode & 0o100) === (mode & 0o100);
    return executable && Buffer.compare(readWhole(fd, wanted.length), wanted) === 0
      ? "same"
      : "other";
  } finally {
    closeSync(fd);
  }
}

function publish(directory: number, files: readonly CandidateFile[]): void {
  const staged: { readonly from: string; readonly to: string }[] = [];
  try {
    for (const { name, text, mode } of files) {
      const temporary = temporaryName(name);
      const fd = openBeneath(directory, temporary, "create", mode);
      staged.push({
        from: throughFolder(directory, temporary),
        to: throughFolder(directory, name),
      });
      try {
        writeAll(fd, new TextEncoder().encode(text));
        fchmodSync(fd, mode);
      } finally {
        closeSync(fd);
      }
    }
    syncFileSystem(directory);
    for (const { from, to } of staged) renameSync(from, to);
    fsyncSync(directory);
  } catch (error) {
    for (const { from } of staged) {
      try {
        unlinkSync(from);
      } catch {
        // It has its name already.
      }
    }
    throw error;
  }
}
