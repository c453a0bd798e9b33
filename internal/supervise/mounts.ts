// The mount lines of a start: "SOURCE TARGET ro|rw", with spaces or, for paths that have some, with
// TABs. What a line means and whether it is allowed is the launch's to say.

import { fail, quoted } from "../abi/mod.ts";
import { type MountLine, pathFault } from "../control/mod.ts";

/** Throws EINVAL with the line that is none. */
export function parseMountLines(lines: readonly string[]): MountLine[] {
  return lines.map((text, index) => {
    const fields = text.split(text.includes("\t") ? "\t" : " ");
    const [source = "", target = "", access = ""] = fields;
    const refuse = (why: string) => fail("EINVAL", `mount ${quoted(text)} is refused: ${why}`);
    if (fields.length !== 3) refuse("it is not SOURCE TARGET ro|rw");
    for (const [name, path] of Object.entries({ source, target })) {
      const fault = pathFault(path);
      if (fault) refuse(`its ${name} ${fault.reason}`);
    }
    if (access !== "ro" && access !== "rw") return refuse(`${quoted(access)} is not ro or rw`);
    const flags = { recursive: true, nosuid: false, nodev: false, noexec: false };
    return { source, target, access, ...flags, line: index + 1 };
  });
}
