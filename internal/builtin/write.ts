// fs.write: the whole content of one file, replaced atomically.

import { mkdirSync } from "node:fs";
import { fail } from "../abi/mod.ts";
import { absolute, fileBytesMax, naming, replaceRegular } from "./files.ts";
import { type BuiltinResult, type Input, ok } from "./result.ts";

export function write(input: Input, cwd: string): BuiltinResult {
  const shown = input.path();
  const content = new TextEncoder().encode(input.text("content"));
  if (content.length > fileBytesMax) {
    fail("EMSGSIZE", `cannot write ${JSON.stringify(shown)}: more than ${fileBytesMax} bytes`);
  }
  const path = absolute(cwd, shown);
  if (/(^|\/)\.{0,2}$/.test(path)) {
    fail("EINVAL", `cannot write ${JSON.stringify(shown)}: the path names a folder`);
  }
  if (input.flag("create_dirs")) {
    const folder = path.slice(0, path.lastIndexOf("/")) || "/";
    naming("make the folders of", shown, () => mkdirSync(folder, { recursive: true }));
  }
  const { created } = replaceRegular({ action: "write", path, shown, content });
  return ok(`${created ? "created" : "replaced"} ${shown} (${content.length} bytes)\n`);
}
