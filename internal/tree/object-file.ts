// The executable file of an object that `ctx` itself runs: a first line for the kernel, then
// metadata for whoever reads it. It holds no implementation and no secret.

import { fail, quoted } from "../abi/mod.ts";

/** Bytes that the kernel looks at for a `#!` line, its newline included (BINPRM_BUF_SIZE). */
const interpreterLineBytesMax = 256;

/** The first line for a tree at `source`. EINVAL when the kernel could not use it. */
export function runnerLine(source: string): string {
  const space = /[\s\0]/.exec(source);
  if (space) {
    fail("EINVAL", `cannot use tree path ${quoted(source)}: it holds white space`, {
      hint: "objects start with a #! line, in which a path ends at the first space",
    });
  }
  const line = `#!${source}/bin/ctx exec\n`;
  const { length } = new TextEncoder().encode(line);
  if (length > interpreterLineBytesMax) {
    const over = length - interpreterLineBytesMax;
    fail("EINVAL", `cannot use tree path ${quoted(source)}: it is ${over} bytes too long`, {
      hint: `objects start with a #! line, of which the kernel reads ${interpreterLineBytesMax} bytes`,
    });
  }
  return line;
}

/** The whole file. Values are single lines; the order is kept. */
export function objectFile(source: string, metadata: Readonly<Record<string, string>>): string {
  const lines = Object.entries(metadata).map(([key, value]) => `# ${key}: ${value}\n`);
  return `${runnerLine(source)}${lines.join("")}`;
}

/** The metadata of such a file, by key. Lines that are not `# key: value` are passed over. */
export function objectMetadata(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const line of text.split("\n").slice(1)) {
    const match = /^# ([a-z][a-z0-9_-]*): (.*)$/.exec(line);
    const [, key, value] = match ?? [];
    if (key !== undefined && value !== undefined && !found.has(key)) found.set(key, value);
  }
  return found;
}
