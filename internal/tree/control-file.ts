// Reading and replacing control files of an open tree. A read is bounded, follows no symlink and
// gives text; a write is checked by the control's own grammar first and replaces the file whole, so
// that a wrong value leaves the old one in force.

import { fstatSync } from "node:fs";
import { posix } from "node:path";
import { CodedError, coded, controlBytesMax, fail, isObjectName, quoted } from "../abi/mod.ts";
import {
  type ControlClass,
  decodeControl,
  isRuntimeOwned,
  type Parsed,
  validateControl,
} from "../control/mod.ts";
import {
  lookPath,
  openBeneath,
  readBeneath,
  replaceFile,
  type StagedFile,
  stageFile,
  stampBytes,
  stampFacts,
  stampIn,
} from "../os/mod.ts";
import { inFolder } from "./beneath.ts";
import { isSafePath, type Tree } from "./open.ts";
import { cachedText } from "./read-cache.ts";

/**
 * Text of a file of the tree, e.g. "agent/coder.d/perm". Throws ENOENT, EMSGSIZE past
 * `controlBytesMax`, EACCES for a symlink on the way, EINVAL with its place for bytes that are no
 * UTF-8 and for a path that is not plain.
 */
export function readControl(tree: Tree, relative: string): string {
  return readOptional(tree, relative) ?? fail("ENOENT", absentText(relative));
}

/** `readControl`, with undefined for a file that is not there; in its folder, if that is open already. */
export function readOptional(tree: Tree, relative: string, among?: number): string | undefined {
  const path = checkedPath(relative);
  const read = (folder: number | undefined) => {
    let bytes: Uint8Array;
    try {
      bytes =
        folder === undefined
          ? readBeneath(tree.folder, path, controlBytesMax)
          : readBeneath(folder, posix.basename(path), controlBytesMax);
    } catch (error) {
      const failure = readFailure(relative, error);
      if (failure.code === "ENOENT") return undefined;
      throw failure;
    }
    return parsedValue(decodeControl(bytes), relative);
  };
  return cachedText(tree, path, read, among);
}

function absentText(relative: string): string {
  return `cannot read ${quoted(relative)}: it does not exist`;
}

/** The value of a parsed control, or its error with file, line and column. */
export function parsedValue<T>(parsed: Parsed<T>, file: string): T {
  if (parsed.ok) return parsed.value;
  const { line, column } = parsed;
  return fail(parsed.code, `${quoted(file)} line ${line}, column ${column}: ${parsed.reason}`, {
    place: { file, line, column },
  });
}

/**
 * Replaces a control durably and whole, keeping its owner and mode; one that was absent gets those
 * of its folder. Throws EINVAL with the place when the text is not valid, EROFS for a control that
 * the runtime owns, and leaves the old text in force then.
 */
export function writeControl(tree: Tree, relative: string, text: string): void {
  const name = checkedName(relative, text);
  try {
    inFolder(tree.folder, relative, (folder) => {
      replaceFile(folder, name, text, keptFacts(folder, name, relative));
    });
  } catch (error) {
    throw writeFailure(relative, error);
  }
}

/**
 * The first half of `writeControl`, off the event loop where the disk works: the text lies beside the
 * control, durably, and waits to take its place. Exactly one of the two methods is called, once.
 */
export async function stageControl(
  tree: Tree,
  relative: string,
  text: string,
): Promise<StagedFile> {
  const name = checkedName(relative, text);
  const named = (error: unknown) => writeFailure(relative, error);
  try {
    const folder = openBeneath(tree.folder, posix.dirname(relative), "folder");
    const staged = await stageFile(folder, name, text, () => keptFacts(folder, name, relative));
    return {
      publish: () => staged.publish().catch((error) => Promise.reject(named(error))),
      drop: () => staged.drop(),
    };
  } catch (error) {
    throw named(error);
  }
}

/** The control's name, if this may be its text. */
function checkedName(relative: string, text: string): string {
  const { kind, name } = controlAt(relative);
  if (isRuntimeOwned(kind, name)) {
    fail("EROFS", `cannot write ${quoted(relative)}: the runtime owns it`);
  }
  parsedValue(validateControl(kind, name, text), relative);
  return name;
}

const stamp = Buffer.alloc(stampBytes);

/** Owner and mode that the new text gets: the old one's, or the folder's. */
function keptFacts(folder: number, name: string, relative: string) {
  const seen = stampIn(folder, lookPath(name), stamp, 0);
  const absent = seen === "absent";
  if (!absent && seen !== "file") fail("EACCES", `${quoted(relative)} is not a regular file`);
  const { uid, gid } = absent ? fstatSync(folder) : stampFacts(stamp, 0);
  const mode = absent ? 0o644 : stampFacts(stamp, 0).mode & 0o777;
  const mine = process.geteuid?.() === uid && process.getegid?.() === gid;
  return { mode, owner: mine ? undefined : { uid, gid } };
}

function writeFailure(relative: string, error: unknown): CodedError {
  if (error instanceof CodedError) return error;
  const { code, message } = coded(error);
  return new CodedError(code, `cannot write ${quoted(relative)}: ${message}`, {
    cause: error,
    ...(code === "ENOENT" ? { hint: "the object does not exist" } : {}),
  });
}

/**
 * Class and name of the control at a path of the tree: `agent/N.d/C`, `tool/N.d/C`,
 * `model/P/M.d/C`, and tools of a home or a shared space. EINVAL for anything else.
 */
export function controlAt(relative: string): { kind: ControlClass; object: string; name: string } {
  const parts = checkedPath(relative).split("/");
  const own = parts[0] === "home" || parts[0] === "shared" ? parts.slice(2) : parts;
  const [kind, ...rest] = own;
  const name = rest.at(-1);
  const objects = rest.slice(0, -1);
  const depth = kind === "model" ? 2 : 1;
  const last = objects.at(-1);
  const known = kind === "agent" || kind === "tool" || kind === "model";
  const inHome = own !== parts && kind !== "tool";
  if (!known || inHome || name === undefined || objects.length !== depth || !last?.endsWith(".d")) {
    return fail("EINVAL", `${quoted(relative)} is not the path of a control`, {
      hint: "controls are agent/NAME.d/CONTROL, tool/NAME.d/CONTROL, model/PROVIDER/MODEL.d/CONTROL",
    });
  }
  const names = [...objects.slice(0, -1), last.slice(0, -2)];
  const wrong = names.find((part) => !isObjectName(part));
  if (wrong !== undefined) fail("EINVAL", `${kind} name ${quoted(wrong)} is not valid`);
  return { kind, object: names.join("/"), name };
}

function checkedPath(relative: string): string {
  if (isSafePath(relative)) return relative;
  return fail("EINVAL", `path ${quoted(relative)} is not valid`, {
    hint: "name it from the root of the tree, without empty, . and .. parts",
  });
}

function readFailure(relative: string, error: unknown): CodedError {
  const { code, message } = coded(error);
  const thrown = (error as NodeJS.ErrnoException).code;
  const reason =
    thrown === "ELOOP"
      ? "a symlink is on its way, and none is followed here"
      : code === "EMSGSIZE"
        ? `it is larger than ${controlBytesMax} bytes`
        : code === "ENOENT"
          ? "it does not exist"
          : message;
  return new CodedError(code, `cannot read ${quoted(relative)}: ${reason}`, { cause: error });
}
