// What somebody says about an agent, wherever it was said: a Markdown file with front matter, a folder
// of control files, options of a command. All of it becomes texts of controls with the place of each
// line, so that one grammar judges them and an error points into the person's own file.

import { closeSync, readdirSync } from "node:fs";
import { basename } from "node:path";
import { CodedError, coded, controlBytesMax, fail, type Place, quoted } from "../abi/mod.ts";
import {
  type AgentControlName,
  agentControls,
  controlNames,
  decodeControl,
  isRuntimeOwned,
} from "../control/mod.ts";
import { openPath, readBeneath, readWhole, TooLong } from "../os/mod.ts";
import { type AgentProgram, openProgramBeneath } from "./agent-program.ts";
import { type FrontEntry, frontMatterBytesMax, parseFrontMatter } from "./front-matter.ts";

/** The text of one control as somebody gave it, and where a line and column of it were given. */
export interface Given {
  readonly text: string;
  place(line: number, column: number): Place;
}

export interface AgentDescription {
  /** From the file's or folder's name; undefined when nothing suggests one. */
  readonly name: string | undefined;
  readonly controls: ReadonlyMap<AgentControlName, Given>;
  /** One line about the agent; a model agent's object file carries it. */
  readonly description: Given | undefined;
  /** The agent's own program; whoever gets it closes it. */
  readonly program: AgentProgram | undefined;
}

/** Bytes of a Markdown file: a whole prompt and a whole front matter. Past it EMSGSIZE. */
const agentFileBytesMax = controlBytesMax + frontMatterBytesMax + 1024;

/** The executable of a folder that describes an agent. */
const programEntry = "agent";

/** Reads a Markdown file or a folder. Throws what is wrong with it, with file, line and column. */
export function readAgentDescription(path: string): AgentDescription {
  const folder = openFolder(path);
  if (folder === undefined) return fromMarkdown(path);
  try {
    return fromFolder(folder, path.replace(/(?<=.)\/+$/, ""));
  } finally {
    closeSync(folder);
  }
}

/** Undefined for what is there and no folder. */
function openFolder(path: string): number | undefined {
  try {
    return openPath(path, "folder");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return undefined;
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): CodedError {
  if (error instanceof CodedError) return error;
  const { code, message } = coded(error);
  const thrown = (error as NodeJS.ErrnoException).code;
  const reason =
    code === "ENOENT" ? "it does not exist" : thrown === "ELOOP" ? "it is a symlink" : message;
  return new CodedError(code, `cannot read ${quoted(path)}: ${reason}`, { cause: error });
}

function fromMarkdown(path: string): AgentDescription {
  const { entries, body, bodyLine } = parseFrontMatter(readText(path), path);
  const controls = new Map<AgentControlName, Given>();
  let description: Given | undefined;
  for (const entry of entries) {
    if (entry.key === "description") description = lineOf(entry);
    else controls.set(knownKey(entry), textOf(entry));
  }
  if (body.trim() !== "") {
    const at = (line: number, column: number) => ({
      file: path,
      line: line + bodyLine - 1,
      column,
    });
    controls.set("system.md", { text: body.endsWith("\n") ? body : `${body}\n`, place: at });
  }
  const name = basename(path).replace(/\.(?:md|markdown)$/, "");
  return { name, controls, description, program: undefined };
}

function readText(path: string): string {
  let fd: number | undefined;
  try {
    fd = openPath(path, "read");
    const text = decodeControlText(readWhole(fd, agentFileBytesMax), path);
    return text;
  } catch (error) {
    if (error instanceof TooLong) {
      return fail("EMSGSIZE", `${quoted(path)} is larger than ${agentFileBytesMax} bytes`);
    }
    throw unreadable(path, error);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** UTF-8 or EINVAL with the place; the file as a whole may be larger than one control. */
function decodeControlText(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    const parsed = decodeControl(bytes.subarray(0, controlBytesMax));
    const { line = 1, column = 1 } = parsed.ok ? {} : parsed;
    return fail("EINVAL", "text is not valid UTF-8", { place: { file, line, column } });
  }
}

/** Keys of the front matter beside `description`; the others are for a folder of control files. */
const frontKeys = [
  "model",
  "tools",
  "perm",
  "label",
  "mount",
  "path",
  "env",
  "approval",
  "window",
  "cwd",
  "policy",
  "groups",
] as const satisfies readonly AgentControlName[];

type FrontKey = (typeof frontKeys)[number];

const singleKeys: readonly string[] = ["perm", "label", "approval", "window", "cwd"];

function knownKey(entry: FrontEntry): FrontKey {
  const found = frontKeys.find((key) => key === entry.key);
  if (found !== undefined) return found;
  const owned = isRuntimeOwned("agent", entry.key) ? "the runtime owns it" : undefined;
  const known = `known are description, ${frontKeys.join(", ")}`;
  const reason = `key ${quoted(entry.key)} ${owned ?? "is not known"}`;
  return fail("EINVAL", reason, { place: entry.place, hint: known });
}

function lineOf(entry: FrontEntry): Given {
  const [item] = entry.items;
  if (entry.form !== "word" || item === undefined) {
    return fail("EINVAL", `${entry.key} takes one value`, { place: entry.place });
  }
  const text = item.text.replace(/\n$/, "");
  return { text: `${text}\n`, place: (line, column) => shifted(item.place, line - 1, column) };
}

function shifted(place: Place, lines: number, column: number): Place {
  // Only on its first line does a value start behind something else.
  const { file, line } = place;
  return { file, line: line + lines, column: place.column + column - 1 };
}

function textOf(entry: FrontEntry): Given {
  if (singleKeys.includes(entry.key)) return lineOf(entry);
  if (entry.form === "map" && entry.key !== "env") {
    return fail("EINVAL", `${entry.key} takes a list, not a map`, { place: entry.place });
  }
  const items = entry.items.flatMap(({ text, place }) =>
    text
      .replace(/\n$/, "")
      .split("\n")
      .flatMap((line, index) => itemsOf(entry, line, shifted(place, index, 1))),
  );
  return listOf(items, entry.place);
}

function itemsOf(entry: FrontEntry, text: string, place: Place): { text: string; place: Place }[] {
  if (entry.key === "mount") return [{ text: mountLine(text), place }];
  if (entry.key !== "tools" || entry.form !== "word") return [{ text, place }];
  let column = 1;
  return text.split(",").map((part) => {
    const name = part.trim();
    const at = shifted(place, 0, column + part.length - part.trimStart().length);
    column += part.length + 1;
    return { text: name, place: at };
  });
}

/** Lines of a list control, each with its own place; what has none is at `whole`. */
export function listOf(
  items: readonly { readonly text: string; readonly place: Place }[],
  whole: Place,
): Given {
  return {
    text: items.map(({ text }) => `${text}\n`).join(""),
    place: (line, column) => {
      const item = items[line - 1];
      return item === undefined ? whole : shifted(item.place, 0, column);
    },
  };
}

/** `SRC DST ro|rw [OPTS]` as the control's line; a text with a TAB in it is that line already. */
export function mountLine(text: string): string {
  if (text.includes("\t")) return text;
  const fields = text.trim().split(/ +/);
  return [...fields, ...(fields.length === 3 ? ["-"] : [])].join("\t");
}

function fromFolder(folder: number, path: string): AgentDescription {
  const controls = new Map<AgentControlName, Given>();
  let hasProgram = false;
  for (const name of readdirSync(`/proc/self/fd/${folder}`).sort()) {
    const file = `${path}/${name}`;
    if (name === programEntry) hasProgram = true;
    else controls.set(knownControl(name, file), readGiven(folder, name, file));
  }
  const program = hasProgram
    ? openProgramBeneath(folder, programEntry, `${path}/${programEntry}`)
    : undefined;
  return { name: basename(path).replace(/\.d$/, ""), controls, description: undefined, program };
}

function knownControl(name: string, file: string): AgentControlName {
  if (isRuntimeOwned("agent", name)) {
    return fail("EINVAL", `${quoted(file)} cannot be given: the runtime owns ${name}`, {
      hint: "take it out of the folder",
    });
  }
  if (Object.hasOwn(agentControls, name)) return name as AgentControlName;
  const known = controlNames("agent").filter((one) => !isRuntimeOwned("agent", one));
  return fail("EINVAL", `${quoted(file)} is not a control of an agent`, {
    hint: `known are ${known.join(" ")}, and the executable ${programEntry}`,
  });
}

function readGiven(folder: number, name: string, file: string): Given {
  const place = (line: number, column: number) => ({ file, line, column });
  try {
    const decoded = decodeControl(readBeneath(folder, name, controlBytesMax));
    if (decoded.ok) return { text: decoded.value, place };
    return fail(decoded.code, decoded.reason, { place: place(decoded.line, decoded.column) });
  } catch (error) {
    if (error instanceof TooLong) {
      return fail("EMSGSIZE", `${quoted(file)} is larger than ${controlBytesMax} bytes`);
    }
    throw unreadable(file, error);
  }
}
