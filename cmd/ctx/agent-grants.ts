// What an agent may do with the tools and models that it names, by the function that enforces it, and
// the exact lines that are missing. Nothing is granted here: the lines are for a person to add.

import type { ModelRef } from "../../internal/abi/mod.ts";
import {
  decide,
  firstRefusal,
  gatherFacts,
  type LayerVerdict,
  type Question,
  type Verdict,
} from "../../internal/authority/mod.ts";
import { print } from "../../internal/cli/mod.ts";
import { type loadAgent, loadModel, resolveAlias, type Tree } from "../../internal/tree/mod.ts";
import type { ServerIdentity } from "./server-identity.ts";

export interface GrantInput {
  readonly tree: Tree;
  readonly agent: string;
  readonly controls: ReturnType<typeof loadAgent>;
  readonly server: ServerIdentity;
}

export interface MissingLine {
  /** Path in the tree. */
  readonly file: string;
  readonly line: string;
  /** What adds it; undefined when the file has to be edited. */
  readonly command: string | undefined;
}

export interface Ruling {
  /** `tool:fs.read` or `model:debug/echo`. */
  readonly object: string;
  readonly name: string;
  readonly verdict: Verdict;
  readonly refusal: LayerVerdict | undefined;
}

export function rule(input: GrantInput, question: Question): Ruling {
  const verdict = decide(gatherFacts({ ...input, question }), question);
  const { class: kind, name } = question.object;
  return { object: `${kind}:${name}`, name, verdict, refusal: firstRefusal(verdict) };
}

/** `tsh`, which every agent has, then the tools that it lists. */
export function toolRulings(input: GrantInput): Ruling[] {
  return ["tsh", ...input.controls.tools].map((name) =>
    rule(input, { object: { class: "tool", name }, permission: "execute" }),
  );
}

/** The models that the agent names, as they are found now, and their fallbacks; each once. */
export function modelRulings(input: GrantInput): Ruling[] {
  return modelsOf(input.tree, input.controls.model).map((name) =>
    rule(input, { object: { class: "model", name }, permission: "use" }),
  );
}

/** Alias names that lead nowhere stay out: who asks for the models is told by loading them. */
export function modelsOf(tree: Tree, choices: GrantInput["controls"]["model"]): string[] {
  const named = choices.flatMap((choice) => {
    if (choice.kind === "ref") return [choice.ref];
    try {
      return [resolveAlias(tree, choice.name)];
    } catch {
      return [];
    }
  });
  const fallbacks = named.flatMap((ref) => fallbacksOf(tree, ref));
  return [...new Set([...named, ...fallbacks].map((ref) => `${ref.provider}/${ref.model}`))];
}

function fallbacksOf(tree: Tree, ref: ModelRef): readonly ModelRef[] {
  try {
    return loadModel(tree, ref).fallback;
  } catch {
    return [];
  }
}

/** The lines that all of them together need, each once; letters of `perm` are united. */
export function missingLines(rulings: readonly Ruling[], source?: string): MissingLine[] {
  const lines = new Map<string, { file: string; line: string }>();
  for (const { verdict } of rulings) {
    for (const { fix, allowed } of verdict.layers) {
      if (allowed || fix === undefined) continue;
      const isList = /\/policy$/.test(fix.file);
      const key = isList ? `${fix.file}\n${fix.line}` : fix.file;
      const before = lines.get(key)?.line;
      const line =
        before !== undefined && /\/perm$/.test(fix.file) ? unite(before, fix.line) : fix.line;
      lines.set(key, { file: fix.file, line });
    }
  }
  return [...lines.values()].map(({ file, line }) => ({
    file,
    line,
    command: commandFor(file, line, source),
  }));
}

function unite(a: string, b: string): string {
  return [..."rwx"]
    .map((letter) => (a.includes(letter) || b.includes(letter) ? letter : "-"))
    .join("");
}

function commandFor(file: string, line: string, source: string | undefined): string | undefined {
  const where = source === undefined ? "" : ` --source ${shellWord(source)}`;
  if (/\/policy$/.test(file)) return `ctx append ${shellWord(file)} ${shellWord(line)}${where}`;
  // One line of several is replaced there, which no command does.
  if (/\/mount$/.test(file)) return undefined;
  const values = line.split("\n").map(shellWord).join(" ");
  return `ctx set ${shellWord(file)} ${values}${where}`;
}

function shellWord(text: string): string {
  return /^[A-Za-z0-9_./:=@%+][A-Za-z0-9_./:=@%+-]*$/.test(text)
    ? text
    : `'${text.replaceAll("'", "'\\''")}'`;
}

export function printMissing(missing: readonly MissingLine[]): void {
  for (const { file, line, command } of missing) {
    print(`  ${file}: ${line.replaceAll("\n", ", ")}`);
    print(`      ${command ?? `edit ${file}`}`);
  }
}
