// What a word can become: the words and tools that tsh knows, or files below the current folder. Names
// that would not print as they are are left out: they are typed, or not at all.

import { readdirSync } from "node:fs";
import { revealLine } from "../../internal/cli/mod.ts";
import type { Candidate, Target } from "../../internal/shell-line/mod.ts";
import { allTools, type ToolPath } from "./tool-path.ts";
import { builtinWords } from "./words.ts";

export function candidates(path: ToolPath, { prefix, before }: Target): Candidate[] {
  const [first] = before;
  const takes = first === undefined ? undefined : builtinWords[first];
  if (first === undefined) return [...Object.keys(builtinWords), ...toolNames(path)].map(named);
  if (takes === "none" || takes === "free") return [];
  if (takes !== undefined) return toolNames(path).map(named);
  return files(prefix);
}

const named = (text: string): Candidate => ({ text });

function toolNames(path: ToolPath): string[] {
  return allTools(path).map(({ name }) => name);
}

function files(prefix: string): Candidate[] {
  const cut = prefix.lastIndexOf("/") + 1;
  const folder = prefix.slice(0, cut);
  try {
    return readdirSync(folder === "" ? "." : folder, { withFileTypes: true })
      .filter(
        ({ name }) =>
          name.startsWith(".") === prefix.startsWith(".", cut) || prefix.startsWith(".", cut),
      )
      .filter(({ name }) => revealLine(name) === name)
      .map((entry): Candidate => {
        const text = `${folder}${entry.name}`;
        return entry.isDirectory() ? { text: `${text}/`, partial: true } : { text };
      })
      .sort((a, b) => (a.text < b.text ? -1 : 1));
  } catch {
    return [];
  }
}
