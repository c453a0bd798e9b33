// CTX_PATH of a standalone tsh: the data-only file CTX_HOME/.tshrc before the environment before the
// default. An agent's own CTX_PATH is part of its view, so no file changes it.

import { readFileSync, statSync } from "node:fs";
import { coded, fail } from "../../internal/abi/mod.ts";

/** Bytes of a .tshrc. Past it EMSGSIZE. */
const startFileBytesMax = 64 * 1024;

export interface SearchPlace {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly uid: number;
  /** Where the caller's home in the view is when CTX_HOME does not say. */
  readonly root: string;
}

/** Folders of the view in order. Throws EINVAL with the place for a malformed .tshrc. */
export function searchPath({ env, uid, root }: SearchPlace): string[] {
  const inherited = env["CTX_PATH"];
  const file = `${env["CTX_HOME"] || `${root}/home/${uid}`}/.tshrc`;
  const named = env["CTX_AGENT"] ? undefined : readStartFile(file);
  return (named || inherited || `/ctx/tool:/ctx/home/${uid}/tool`).split(":").filter(Boolean);
}

/** The CTX_PATH of a start file; undefined without the file or without the line. */
function readStartFile(file: string): string | undefined {
  let text: string;
  try {
    const facts = statSync(file);
    if (!facts.isFile()) fail("EINVAL", `${JSON.stringify(file)} is not a regular file`);
    if (facts.size > startFileBytesMax) {
      fail("EMSGSIZE", `${JSON.stringify(file)} is larger than ${startFileBytesMax} bytes`);
    }
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (coded(error).code === "ENOENT") return undefined;
    throw error;
  }
  return parseStartFile(text, file);
}

export function parseStartFile(text: string, file: string): string | undefined {
  let found: string | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const place = { file, line: index + 1, column: 1 };
    const [, value] = /^CTX_PATH=(.*)$/.exec(line) ?? [];
    if (value === undefined) fail("EINVAL", "only CTX_PATH=FOLDER:… may stand here", { place });
    if (found !== undefined) fail("EINVAL", "CTX_PATH is set twice", { place });
    if (!value.split(":").every((folder) => folder.startsWith("/"))) {
      fail("EINVAL", "CTX_PATH is a list of absolute folders of the view", { place });
    }
    found = value;
  }
  return found;
}
