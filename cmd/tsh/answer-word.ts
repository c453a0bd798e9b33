// The words that tsh answers itself.

import { fail, isObjectName } from "../../internal/abi/mod.ts";
import { print, printJson } from "../../internal/cli/mod.ts";
import { runConfig } from "./config.ts";
import type { Ask } from "./host-word.ts";
import { listTools, showPath, showTool } from "./show.ts";
import type { ToolPath } from "./tool-path.ts";

/** The exit status. `ask` is for the words that the host answers. Throws the coded reason of a refusal. */
export async function answerWord(
  path: () => ToolPath,
  word: string,
  words: readonly string[],
  json: boolean,
  ask?: Ask,
): Promise<number> {
  const [name = ""] = words;
  switch (word) {
    case "tools":
      listTools(path(), json);
      return 0;
    case "which":
      showPath(path(), name, json);
      return 0;
    case "help":
      showTool(path(), name, json);
      return 0;
    case "config":
      return runConfig(path(), words, json);
    case "exit":
      return exitStatus(words);
    default:
      return answerLoads(word, words, json, ask);
  }
}

/** What `exit` was given: a status of 0 to 255. */
export function exitStatus(words: readonly string[], otherwise = 0): number {
  const [word, ...more] = words;
  if (word === undefined) return otherwise;
  if (more.length === 0 && /^\d{1,3}$/.test(word) && Number(word) <= 255) return Number(word);
  return fail("EINVAL", "exit takes one number, 0 to 255");
}

async function answerLoads(
  word: string,
  words: readonly string[],
  json: boolean,
  ask?: Ask,
): Promise<number> {
  for (const name of words) {
    if (!isObjectName(name)) fail("EINVAL", `tool name ${JSON.stringify(name)} is not valid`);
  }
  const asked = ask ?? (await import("./host-word.ts")).askAlone;
  const text = await asked([word, ...words]);
  if (json) printJson({ word, text });
  else print(text);
  return 0;
}
