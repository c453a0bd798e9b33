// The commands of tsh. It finds tools through CTX_PATH, shows them, and runs them where a host says that
// they may run: in an agent's terminal. Everything that a short command does not need is loaded late.

import { fail } from "../../internal/abi/mod.ts";
import { everyCommandFlags, isTerminal, parseFlags, viewRoot } from "../../internal/cli/mod.ts";
import { resolvePlaces } from "../../internal/tree/mod.ts";
import { searchPath } from "./search-path.ts";
import type { ToolPath } from "./tool-path.ts";
import { builtinWords, isBuiltinWord } from "./words.ts";

export async function run(argv: readonly string[]): Promise<number> {
  const [word] = argv;
  if (word === undefined) return runShell();
  if (isBuiltinWord(word)) return runWord(word, argv.slice(1));
  if (word.startsWith("-")) {
    return fail("EINVAL", `unknown option ${JSON.stringify(word)}`, { hint: "see tsh --help" });
  }
  const { runOnce } = await import("./one-shot.ts");
  return runOnce(toolPath(), word, argv.slice(1));
}

/** Options come behind the word: what a tool is given is the tool's. */
async function runWord(word: string, rest: readonly string[]): Promise<number> {
  const flags = parseFlags(rest, everyCommandFlags);
  const { answerWord } = await import("./answer-word.ts");
  checkWords(word, flags.words);
  const named = { root: flags.value.get("root"), source: flags.value.get("source") };
  const json = flags.on.has("json");
  return answerWord(() => toolPath(named), word, flags.words, json);
}

export function checkWords(word: string, words: readonly string[]): void {
  const takes = builtinWords[word];
  const good =
    takes === "free" ||
    (takes === "none" && words.length === 0) ||
    (takes === "one" && words.length === 1) ||
    (takes === "some" && words.length > 0);
  if (good) return;
  const said = { none: "no words", one: "one name", some: "one or more names" };
  fail("EINVAL", `tsh ${word} takes ${said[takes as keyof typeof said]}`, {
    hint: word === "help" ? "tools lists the names; tsh --help has the rest" : "see tsh --help",
  });
}

async function runShell(): Promise<number> {
  if (isTerminal(0) && isTerminal(1)) {
    const { interact } = await import("./interact.ts");
    return interact(toolPath());
  }
  const { runLines } = await import("./script.ts");
  return runLines(toolPath());
}

interface Named {
  readonly root?: string | undefined;
  readonly source?: string | undefined;
}

function toolPath({ root: named, source }: Named = {}): ToolPath {
  const uid = process.getuid?.() ?? 0;
  const findSource = () => resolvePlaces({ source, env: process.env, uid }).source;
  const root = viewRoot({ root: named, source, findSource });
  return { root, folders: searchPath({ env: process.env, uid, root }) };
}
