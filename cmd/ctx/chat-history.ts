// The lines a person typed in chats, kept in their own state folder: one file an agent, newest last.
// Losing it is no harm, so no failure here ever reaches the chat.

import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";

/** Lines kept. Past it the oldest go. */
const linesMax = 1000;

/** Undefined when there is no home to keep it in. */
export function historyFile(
  agent: string,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const state = env["XDG_STATE_HOME"];
  const home = env["HOME"];
  const base =
    state && isAbsolute(state) ? state : home && isAbsolute(home) ? join(home, ".local/state") : "";
  return base === "" ? undefined : join(base, "cortexfs", `chat-${agent}`);
}

/** Oldest first. */
export function loadHistory(file: string | undefined): string[] {
  if (file === undefined) return [];
  try {
    return readFileSync(file, "utf8").split("\n").filter(Boolean).slice(-linesMax);
  } catch {
    return [];
  }
}

export function saveHistory(file: string | undefined, lines: readonly string[]): void {
  if (file === undefined) return;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const text = lines
      .slice(-linesMax)
      .map((line) => `${line}\n`)
      .join("");
    writeFileSync(`${file}.tmp`, text, { mode: 0o600 });
    renameSync(`${file}.tmp`, file);
  } catch {
    // A read-only home keeps no history, and the chat goes on.
  }
}
