// The `mount` control: `source TAB target TAB ro|rw TAB options`, one mount a line.

import { quoted } from "../abi/mod.ts";
import { pathFault } from "./scalar.ts";
import { accept, type Line, parseList, refuse } from "./text.ts";
import type { MountLine, Parsed } from "./types.ts";

const optionWords = ["bind", "rbind", "nosuid", "nodev", "noexec"];

export function parseMount(text: string): Parsed<readonly MountLine[]> {
  return parseList(text, mountItem, "allowed");
}

function mountItem(line: Line): Parsed<MountLine> {
  const fields = line.text.split("\t");
  const [source = "", target = "", access = "", options = ""] = fields;
  if (fields.length !== 4) {
    const column =
      fields.length < 4 ? line.text.length + 1 : fields.slice(0, 4).join("\t").length + 1;
    const reason = `mount has ${fields.length} fields, it needs 4 separated by TAB: source, target, ro or rw, options or "-"`;
    return refuse(line.number, column, reason);
  }
  for (const [name, path, start] of [
    ["source", source, 0],
    ["target", target, source.length + 1],
  ] as const) {
    const fault = pathFault(path);
    if (fault)
      return refuse(line.number, start + fault.offset + 1, `mount ${name}: ${fault.reason}`);
  }
  const accessAt = source.length + target.length + 3;
  if (access !== "ro" && access !== "rw") {
    return refuse(line.number, accessAt, `mount access ${quoted(access)} is neither "ro" nor "rw"`);
  }
  const parsed = parseOptions(options, line.number, accessAt + access.length + 1);
  if (!parsed.ok) return parsed;
  const has = parsed.value;
  return accept({
    source,
    target,
    access,
    recursive: has.has("rbind"),
    nosuid: has.has("nosuid"),
    nodev: has.has("nodev"),
    noexec: has.has("noexec"),
    line: line.number,
  });
}

function parseOptions(text: string, line: number, start: number): Parsed<ReadonlySet<string>> {
  const found = new Set<string>();
  if (text === "-") return accept(found);
  let column = start;
  for (const option of text.split(",")) {
    if (!optionWords.includes(option)) {
      const known = optionWords.join(", ");
      return refuse(line, column, `mount option ${quoted(option)} is not one of ${known}, or "-"`);
    }
    if (found.has(option)) return refuse(line, column, `mount option "${option}" is repeated`);
    const other = option === "bind" ? "rbind" : option === "rbind" ? "bind" : undefined;
    if (other !== undefined && found.has(other)) {
      return refuse(line, column, "mount options bind and rbind exclude each other");
    }
    found.add(option);
    column += option.length + 1;
  }
  return accept(found);
}

/** The line that parses to `mount`; `bind` is left unsaid because it is the default. */
export function formatMount(mount: Omit<MountLine, "line">): string {
  const options = [
    ...(mount.recursive ? ["rbind"] : []),
    ...(mount.nosuid ? ["nosuid"] : []),
    ...(mount.nodev ? ["nodev"] : []),
    ...(mount.noexec ? ["noexec"] : []),
  ];
  const last = options.length === 0 ? "-" : options.join(",");
  return [mount.source, mount.target, mount.access, last].join("\t");
}
