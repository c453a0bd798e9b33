// The host's side of the native tool `tsh`: which tool a list of words names and with what input.
// Words are split already; nothing here is a shell, expands anything or looks at PATH. Pure.

import { fail } from "../abi/mod.ts";
import type { ModelTool } from "../model/mod.ts";

export const tshTool: ModelTool = {
  name: "tsh",
  description: [
    "Run any CortexFS tool that is visible to you, by its name.",
    'args is the tool\'s name and its input as one JSON object: ["fs.read","{\\"path\\":\\"a.md\\"}"].',
    'Some take plain words too: ["fs.read","a.md"], ["shell.exec","ls","-l"].',
    '["tools"] lists the tools, ["help","NAME"] shows a tool\'s schema, ["which","NAME"] its place.',
    '["load","NAME"] keeps a tool\'s description and schema before you, ["pin","NAME"] for good;',
    '["unload","NAME"] and ["unpin","NAME"] take it back, ["loads"] lists them.',
    "It is no host shell: only tools found through CTX_PATH run, each checked by policy.",
  ].join(" "),
  schema: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: {
      args: {
        type: "array",
        items: { type: "string" },
        minItems: 1,
        maxItems: 256,
        description: "The tool's name, then its input.",
      },
    },
    required: ["args"],
    additionalProperties: false,
  },
};

/** Words that the host answers itself, by what they take. */
const builtins = {
  none: ["tools", "loads"],
  one: ["which", "help"],
  some: ["load", "unload", "pin", "unpin"],
} as const;

/** Words of the terminal's tsh that mean nothing in a call, and what does. */
const terminalWords: Readonly<Record<string, string>> = {
  config: "loads shows the bounds of tsh.d/config, which a person or the tool tsh.config changes",
  exit: "a call ends with its answer",
};

export type TshCommand =
  | { readonly kind: (typeof builtins.none)[number] }
  | { readonly kind: (typeof builtins.one)[number]; readonly name: string }
  | { readonly kind: (typeof builtins.some)[number]; readonly names: readonly string[] }
  | { readonly kind: "tool"; readonly name: string; readonly args: unknown };

/** Input fields by position, for tools that take plain words. */
const positional: Readonly<Record<string, (words: readonly string[]) => unknown>> = {
  "fs.read": ([path, ...rest]) => rest.length === 0 && path !== undefined && { path },
  "fs.list": ([path = ".", ...rest]) => rest.length === 0 && { path },
  "fs.stat": ([path, ...rest]) => rest.length === 0 && path !== undefined && { path },
  "fs.write": ([path, content, ...rest]) =>
    rest.length === 0 && content !== undefined && { path, content },
  "fs.replace": ([path, old, text, ...rest]) =>
    rest.length === 0 && text !== undefined && { path, old, new: text },
  bash: (words) => ({ args: [...words] }),
  tmux: (words) => ({ args: [...words] }),
  zellij: (words) => ({ args: [...words] }),
  "tsh.config": (words) => words.length === 0 && {},
  // One word is a command line for the shell; several are a program and its arguments.
  "shell.exec": (words) => words.length > 0 && { cmd: words.length === 1 ? words[0] : [...words] },
};

/** Throws EINVAL for words that name nothing to do; whether the tool exists is not asked here. */
export function parseTsh(args: unknown): TshCommand {
  const words = wordsOf(args);
  const [name = "", ...rest] = words;
  const builtin = builtinOf(name, rest);
  if (builtin !== undefined) return builtin;
  if (Object.hasOwn(terminalWords, name)) {
    const hint = terminalWords[name] ?? "";
    return fail("EINVAL", `tsh ${name} is a word of the terminal and not of a call`, { hint });
  }
  if (name === tshTool.name) return fail("EINVAL", "tsh does not run itself");
  return { kind: "tool", name, args: inputOf(name, rest) };
}

/** Undefined when the name is no built-in. */
function builtinOf(name: string, rest: readonly string[]): TshCommand | undefined {
  const none = builtins.none.find((word) => word === name);
  if (none !== undefined) {
    return rest.length === 0 ? { kind: none } : fail("EINVAL", `tsh ${none} takes no argument`);
  }
  const one = builtins.one.find((word) => word === name);
  if (one !== undefined) {
    const [subject] = rest;
    if (subject !== undefined && rest.length === 1) return { kind: one, name: subject };
    return fail("EINVAL", `tsh ${one} takes one tool name`);
  }
  const some = builtins.some.find((word) => word === name);
  if (some === undefined) return undefined;
  if (rest.length > 0) return { kind: some, names: rest };
  return fail("EINVAL", `tsh ${some} takes at least one tool name`);
}

/** What it is told, the name first. Throws EINVAL. */
export function wordsOf(args: unknown): readonly string[] {
  const words = (args as { args?: unknown } | null | undefined)?.args;
  const valid = Array.isArray(words) && words.length > 0 && words.every(isText);
  if (valid) return words as readonly string[];
  return fail("EINVAL", `tsh takes {"args":["NAME", …]} with at least one word`);
}

const isText = (word: unknown) => typeof word === "string";

function inputOf(name: string, words: readonly string[]): unknown {
  const [first] = words;
  if (words.length === 1 && first !== undefined) {
    const object = jsonObject(first);
    if (object !== undefined) return object;
  }
  const convention = positional[name];
  if (convention === undefined) {
    if (words.length === 0) return {};
    const example = JSON.stringify({ args: [name, "{…}"] });
    return fail("EINVAL", `tool "${name}" takes its input as one JSON object: ${example}`);
  }
  return (
    convention(words) ||
    fail("EINVAL", `tool "${name}" takes other arguments`, { hint: usage[name] ?? "" })
  );
}

const usage: Readonly<Record<string, string>> = {
  "fs.read": "fs.read PATH",
  "fs.list": "fs.list [PATH]",
  "fs.stat": "fs.stat PATH",
  "fs.write": "fs.write PATH CONTENT",
  "fs.replace": "fs.replace PATH OLD NEW",
  "tsh.config": 'tsh.config {"max_loaded_tools":32}',
  "shell.exec": "shell.exec CMD…",
};

function jsonObject(text: string): unknown {
  if (!text.trimStart().startsWith("{")) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
