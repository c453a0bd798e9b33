// A call that waits for approval, as a person reads it. Everything in it was written by a model, so
// every line is escaped and stands behind a bar, and nothing in it is there without being seen: no text
// of a call can look like a line of ours, or like another text.

import { previewChange } from "../../internal/builtin/mod.ts";
import { revealLine, revealText } from "../../internal/cli/mod.ts";
import type { ApprovalFrame } from "./approval-desk.ts";
import type { SeenFile } from "./approval-file.ts";

type Fields = Readonly<Record<string, unknown>>;

/** `see` reads the file that a call would change. */
export function approvalText(
  { name, args, cwd }: ApprovalFrame,
  agent: string,
  see: (path: string) => SeenFile,
): string {
  const fields = (typeof args === "object" && args !== null ? args : {}) as Fields;
  const head = `${agent} asks to run ${revealLine(name)} in ${revealLine(cwd)}\n`;
  if (name === "shell.exec") return head + commandText(fields);
  if (name === "fs.write" || name === "fs.replace") return head + changeText(name, fields, see);
  return head + barred(JSON.stringify(args, null, 2));
}

function commandText({ cmd, ...rest }: Fields): string {
  const command =
    typeof cmd === "string"
      ? barred(cmd)
      : Array.isArray(cmd)
        ? barred(cmd.map((word) => JSON.stringify(word)).join(" "))
        : "";
  return named(rest) + command;
}

function changeText(
  name: "fs.write" | "fs.replace",
  fields: Fields,
  see: (path: string) => SeenFile,
): string {
  const { content, old, new: next, ...rest } = fields;
  const seen = see(String(fields["path"]));
  const preview = seen.ok ? previewChange(name, fields, seen.text) : seen;
  if (preview.ok) return named(rest) + barred(preview.diff);
  const texts = name === "fs.write" ? { content } : { old, new: next };
  const whole = Object.entries(texts).map(
    ([field, text]) => `  ${field}:\n${barred(String(text))}`,
  );
  return `${named(rest)}  no diff: ${revealLine(preview.because)}\n${whole.join("")}`;
}

/** One line a field. */
function named(fields: Fields): string {
  return Object.entries(fields)
    .map(([field, value]) => `  ${revealLine(field)}: ${revealLine(JSON.stringify(value) ?? "")}\n`)
    .join("");
}

function barred(text: string): string {
  return revealText(text.endsWith("\n") ? text.slice(0, -1) : text)
    .split("\n")
    .map((line) => `  | ${line}\n`)
    .join("");
}
