// `ctx policy check`: parses policies and names every line that is wrong.

import { readFileSync, statSync } from "node:fs";
import { coded, controlBytesMax, fail } from "../../internal/abi/mod.ts";
import { print, printJson, unreadable } from "../../internal/cli/mod.ts";
import { parsePolicy } from "../../internal/policy/mod.ts";
import {
  agentNames,
  modelNames,
  readControl,
  type Tree,
  toolNames,
} from "../../internal/tree/mod.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { openContext } from "./context.ts";

export const spec: CommandSpec = {
  name: "policy check",
  words: "[what]",
  summary: "Parses policies and names every line that is wrong, as file:line:column.",
  positionals: { what: "An agent's name, or a file with a / in its path; all policies without it" },
  options: {},
  examples: [
    ["policy check", "every agent, tool and model of the tree"],
    ["policy check ./policy", "a file before it is put in place"],
  ],
};

interface Finding {
  readonly file: string;
  readonly valid: boolean;
  readonly lines?: number;
  readonly line?: number;
  readonly column?: number;
  readonly code?: string;
  readonly reason?: string;
}

/** 0 when all parse, 2 otherwise. */
export function run(args: Arguments): number {
  const findings = findingsFor(args);
  for (const finding of findings) {
    if (args.flag("json")) printJson(finding);
    else print(lineOf(finding));
  }
  return findings.every(({ valid }) => valid) ? 0 : 2;
}

function findingsFor(args: Arguments): Finding[] {
  const what = args.text("what");
  if (what?.includes("/")) return [check(what, readFile(what))];
  const { tree } = openContext(args);
  if (what === undefined)
    return policyFiles(tree).flatMap((file) => checkControl(tree, file, true));
  if (!agentNames(tree).includes(what)) {
    fail("ENOENT", `agent ${JSON.stringify(what)} does not exist`, {
      hint: "see ctx agent list; a file's path needs a / in it, for example ./policy",
    });
  }
  return checkControl(tree, `agent/${what}.d/policy`, false);
}

function policyFiles(tree: Tree): string[] {
  return [
    ...agentNames(tree).map((name) => `agent/${name}.d/policy`),
    ...toolNames(tree, "/ctx/tool").map((name) => `tool/${name}.d/policy`),
    ...modelNames(tree).map((name) => `model/${name}.d/policy`),
  ];
}

/** A policy that is absent allows nothing; among all of them it is passed over. */
function checkControl(tree: Tree, file: string, mayMiss: boolean): Finding[] {
  try {
    return [check(file, readControl(tree, file))];
  } catch (error) {
    const { code, message, place } = coded(error);
    if (code === "ENOENT" && mayMiss) return [];
    const { line = 1, column = 1 } = place ?? {};
    return [{ file, valid: false, line, column, code, reason: message }];
  }
}

function check(file: string, text: string): Finding {
  const parsed = parsePolicy(text);
  if (parsed.ok) return { file, valid: true, lines: parsed.value.lines.length };
  const { code, line, column, reason } = parsed;
  return { file, valid: false, line, column, code, reason };
}

function lineOf(finding: Finding): string {
  const { file, valid, lines, line, column, code, reason } = finding;
  if (valid) return `${file}: ok, ${lines} ${lines === 1 ? "line" : "lines"}`;
  return `${file}:${line}:${column}: ${reason} [${code}]`;
}

function readFile(path: string): string {
  try {
    const facts = statSync(path);
    // A pipe would never end and a device may not either.
    if (!facts.isFile()) {
      fail("EINVAL", `cannot read ${JSON.stringify(path)}: it is not a regular file`);
    }
    if (facts.size > controlBytesMax) {
      fail("EMSGSIZE", `${JSON.stringify(path)} is larger than ${controlBytesMax} bytes`);
    }
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    if (error instanceof TypeError) return fail("EINVAL", `${JSON.stringify(path)} is not UTF-8`);
    return unreadable("read", path, error);
  }
}
