// Reads `ctxd.conf` and refuses one that somebody other than root or this server's uid could have
// written: it decides whether agents may run as root.

import { closeSync, fstatSync } from "node:fs";
import { join } from "node:path";
import { coded, controlBytesMax, fail } from "../abi/mod.ts";
import { openPath, readWhole } from "../os/mod.ts";
import { applySettings, defaultSettings, parseSettings, type Settings } from "./settings.ts";

/** Of the folder `config` with `sets` on top; a missing file means the defaults. */
export function loadSettings(config: string, sets: readonly string[] = []): Settings {
  const file = join(config, "ctxd.conf");
  const text = readTrusted(file);
  const base = text === undefined ? defaultSettings : parseSettings(text, file);
  return applySettings(base, sets);
}

function readTrusted(file: string): string | undefined {
  let fd: number;
  try {
    fd = openPath(file, "read");
  } catch (error) {
    const { code, message } = coded(error);
    if (code === "ENOENT") return undefined;
    return fail(code, `cannot read settings "${file}": ${message}`, { cause: error });
  }
  try {
    const facts = fstatSync(fd);
    const own = process.geteuid?.() ?? 0;
    if (facts.uid !== 0 && facts.uid !== own) {
      return refuse(file, `it belongs to uid ${facts.uid}`, `run chown ${own} "${file}"`);
    }
    if ((facts.mode & 0o022) !== 0) {
      return refuse(file, "others may write to it", `run chmod go-w "${file}"`);
    }
    const bytes = readWhole(fd, controlBytesMax);
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) {
      return fail("EINVAL", `cannot read settings "${file}": it is not valid UTF-8`);
    }
    throw error;
  } finally {
    closeSync(fd);
  }
}

function refuse(file: string, reason: string, hint: string): never {
  return fail("EACCES", `cannot trust settings "${file}": ${reason}`, { hint });
}
