// One parse of a source file, reduced to what the house rules ask about. oxc-parser is used because
// TypeScript 7 has no JavaScript interface and Bun's own scanner drops type-only imports.

import { parseSync } from "oxc-parser";
import type { SourceFile } from "./tree.ts";

export interface Import {
  /** As written; undefined when it is computed. */
  readonly specifier: string | undefined;
  readonly line: number;
}

export interface FunctionSpan {
  readonly line: number;
  readonly lines: number;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

export interface Syntax {
  readonly imports: readonly Import[];
  readonly functions: readonly FunctionSpan[];
  /** Every name that is called, `a.b.c()` as "a.b.c", with the line of the call. */
  readonly calls: readonly { readonly name: string; readonly line: number; readonly node: Node }[];
  /** Free-standing identifiers and member chains that are read, e.g. "Math.random". */
  readonly names: readonly { readonly name: string; readonly line: number }[];
  readonly comments: readonly { readonly text: string; readonly line: number }[];
  readonly program: Node;
}

export function readSyntax(file: SourceFile): Syntax {
  const parsed = parseSync(file.path, file.text);
  if (parsed.errors.length > 0) {
    throw new Error(`${file.path}: ${parsed.errors.map((error) => error.message).join("; ")}`);
  }
  const lineOf = lineCounter(file.text);
  const program = parsed.program as unknown as Node;
  const imports: Import[] = [];
  const functions: FunctionSpan[] = [];
  const calls: { name: string; line: number; node: Node }[] = [];
  const names: { name: string; line: number }[] = [];
  walk(program, (node) => {
    const line = lineOf(node.start);
    const source = importSource(node);
    if (source !== undefined) imports.push({ specifier: literal(source), line });
    if (isFunction(node)) functions.push({ line, lines: lineOf(node.end) - line + 1 });
    if (node.type === "CallExpression" || node.type === "NewExpression") {
      const name = chain(node["callee"] as Node);
      if (name !== undefined) calls.push({ name, line, node });
    }
    if (node.type === "Identifier" || node.type === "MemberExpression") {
      const name = chain(node);
      if (name !== undefined) names.push({ name, line });
    }
  });
  const comments = parsed.comments.map(({ value, start }) => ({
    text: value,
    line: lineOf(start),
  }));
  return { imports, functions, calls, names, comments, program };
}

/** Static, type-only, re-exported, dynamic and `import("…")` type imports alike. */
function importSource(node: Node): Node | undefined {
  switch (node.type) {
    case "ImportDeclaration":
    case "ExportAllDeclaration":
    case "ImportExpression":
    case "TSImportType":
      return (node["source"] ?? node["argument"]) as Node;
    case "ExportNamedDeclaration":
      return (node["source"] ?? undefined) as Node | undefined;
    default:
      return undefined;
  }
}

function literal(node: Node): string | undefined {
  const value = node["value"] ?? (node["literal"] as Node | undefined)?.["value"];
  return typeof value === "string" ? value : undefined;
}

function isFunction(node: Node): boolean {
  return /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type);
}

/** "a.b.c" of a plain member chain; undefined for anything computed. */
export function chain(node: Node): string | undefined {
  if (node.type === "Identifier") return node["name"] as string;
  if (node.type !== "MemberExpression" || node["computed"] === true) return undefined;
  const left = chain(node["object"] as Node);
  return left === undefined ? undefined : `${left}.${(node["property"] as Node)["name"]}`;
}

export function walk(node: Node, visit: (node: Node) => void): void {
  visit(node);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) walk(child, visit);
    }
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}

/** Line of an offset; oxc-parser counts in UTF-16 units, as strings do. */
function lineCounter(text: string): (offset: number) => number {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] as number) <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}
