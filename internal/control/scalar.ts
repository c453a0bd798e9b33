// Grammars of single items: numbers, words, names and paths. Each takes one line that is already
// known to be neither blank nor padded.

import { isObjectName, quoted } from "../abi/mod.ts";
import { accept, type Line, parseSingle, refuse } from "./text.ts";
import type { Parsed } from "./types.ts";

/** Largest uid or gid; one more is -1, which the kernel reads as "leave it as it is". */
export const idMax = 4_294_967_294;

/** Largest token count of `window` and `limit`. */
export const u32Max = 4_294_967_295;

/** Bytes of a path, PATH_MAX without the closing NUL. Past it EINVAL. */
export const pathBytesMax = 4095;

/** Bytes of one component, NAME_MAX. Past it EINVAL. */
export const componentBytesMax = 255;

type Item<T> = (line: Line) => Parsed<T>;

/** A parser of a whole file that holds one item. */
export function single<T>(item: Item<T>): (text: string) => Parsed<T> {
  return (text) => {
    const parsed = parseSingle(text);
    return parsed.ok ? item({ text: parsed.value, number: 1 }) : parsed;
  };
}

/** A canonical decimal from `min` to `max`: digits alone, no sign, no leading zero. */
export function decimal(what: string, min: number, max: number): Item<number> {
  return (line) => {
    const wrong = /[^0-9]/.exec(line.text);
    if (wrong) {
      const reason = `${what} ${quoted(line.text)} is not a decimal number`;
      return refuse(line.number, wrong.index + 1, reason);
    }
    if (line.text.length > 1 && line.text.startsWith("0")) {
      return refuse(line.number, 1, `${what} ${quoted(line.text)} has a leading zero`);
    }
    const value = Number(line.text);
    if (value >= min && value <= max) return accept(value);
    return refuse(line.number, 1, `${what} ${quoted(line.text)} is not between ${min} and ${max}`);
  };
}

/** One word of a closed list. */
export function word<W extends string>(what: string, words: readonly W[]): Item<W> {
  return (line) => {
    const found = words.find((candidate) => candidate === line.text);
    if (found !== undefined) return accept(found);
    const reason = `${what} ${quoted(line.text)} is not one of ${words.join(", ")}`;
    return refuse(line.number, 1, reason);
  };
}

export function objectNameItem(what: string): Item<string> {
  return (line) => {
    if (isObjectName(line.text)) return accept(line.text);
    const at = /[^a-zA-Z0-9._+-]/.exec(line.text)?.index ?? 0;
    return refuse(line.number, at + 1, `${what} name ${quoted(line.text)} is not valid`);
  };
}

/** Why a path is not absolute and canonical, with the offset of the fault, or undefined. */
export function pathFault(path: string): { offset: number; reason: string } | undefined {
  if (!path.startsWith("/")) return { offset: 0, reason: `path ${quoted(path)} is not absolute` };
  const encoder = new TextEncoder();
  if (encoder.encode(path).length > pathBytesMax) {
    return { offset: 0, reason: `path is longer than ${pathBytesMax} bytes` };
  }
  if (path === "/") return undefined;
  let offset = 1;
  for (const part of path.slice(1).split("/")) {
    const last = offset + part.length === path.length;
    if (part === "") {
      const reason = last ? "path ends in a slash" : "path holds an empty component";
      return { offset: offset - 1, reason };
    }
    if (part === "." || part === "..") {
      return { offset, reason: `path holds ${quoted(part)}, it must be canonical` };
    }
    if (encoder.encode(part).length > componentBytesMax) {
      return { offset, reason: `path component is longer than ${componentBytesMax} bytes` };
    }
    const control = /[\0-\x1f\x7f]/.exec(part);
    if (control) {
      return { offset: offset + control.index, reason: "path holds a control character" };
    }
    offset += part.length + 1;
  }
  return undefined;
}

export const pathItem: Item<string> = (line) => {
  const fault = pathFault(line.text);
  if (fault === undefined) return accept(line.text);
  return refuse(line.number, fault.offset + 1, fault.reason);
};

/** A folder of CTX_PATH, whose folders are joined by colons. */
export const searchFolderItem: Item<string> = (line) => {
  const colon = line.text.indexOf(":");
  if (colon < 0) return pathItem(line);
  return refuse(line.number, colon + 1, "folder holds a colon, which separates CTX_PATH entries");
};
