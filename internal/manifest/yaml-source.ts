// A manifest in YAML 1.2, by the core schema and nothing beyond JSON's types: one document, no alias,
// no directive, no tag that is not known, no name twice. The owner of the package.

import {
  type CST,
  type Document,
  isCollection,
  isMap,
  isScalar,
  type Pair,
  Parser,
  parseDocument,
} from "yaml";
import type { JsonObject } from "../control/mod.ts";
import { manifestDepthMax, placeAt, refuse, type Source, type SourceFault } from "./source.ts";

/** Bytes of a manifest in YAML, which takes far longer to read than JSON. Past it EMSGSIZE. */
export const yamlBytesMax = 256 * 1024;

/** Items of one list or map. Past it EINVAL: names are compared with each other. */
const itemsMax = 4096;

export function yamlSource(text: string, file: string): Source {
  const fail = ({ offset, reason }: SourceFault) =>
    refuse(placeAt(file, text, offset), undefined, reason);
  if (new TextEncoder().encode(text).length > yamlBytesMax) {
    const reason = `it is larger than the ${yamlBytesMax} bytes of a manifest in YAML`;
    return refuse(placeAt(file, text, 0), undefined, reason, "EMSGSIZE");
  }
  const wrong = tokenFault(text);
  if (wrong !== undefined) fail(wrong);
  const document = parseDocument(text, {
    version: "1.2",
    schema: "core",
    stringKeys: true,
    uniqueKeys: true,
    strict: true,
    merge: false,
    resolveKnownTags: false,
    prettyErrors: false,
    logLevel: "error",
  });
  const [said] = [...document.errors, ...document.warnings];
  if (said !== undefined) {
    const many = said.code === "MULTIPLE_DOCS" ? "a second document is not taken" : undefined;
    fail({ offset: said.pos[0], reason: many ?? said.message.split("\n", 1)[0] ?? "" });
  }
  const { contents } = document;
  if (!isMap(contents)) return fail({ offset: 0, reason: "it is not a map of fields" });
  const value: unknown = document.toJS();
  const source: Source = {
    file,
    value: value as JsonObject,
    place: (path, part) => placeAt(file, text, offsetOf(document, path, part)),
  };
  const number = oddNumber(contents);
  if (number !== undefined) fail({ offset: number, reason: "the number is not one of JSON's" });
  return source;
}

/** What is refused before anything is built of it, and so costs no more than reading it. */
function tokenFault(text: string): SourceFault | undefined {
  const waiting: { token: CST.Token; depth: number }[] = [];
  for (const token of new Parser().parse(text)) waiting.push({ token, depth: 0 });
  for (;;) {
    const next = waiting.pop();
    if (next === undefined) return undefined;
    const { token, depth } = next;
    const reason = refusalOf(token, depth);
    if (reason !== undefined) return { offset: token.offset, reason };
    if (token.type === "document" && token.value) waiting.push({ token: token.value, depth });
    if (!("items" in token)) continue;
    for (const { key, value } of token.items) {
      if (key) waiting.push({ token: key, depth: depth + 1 });
      if (value) waiting.push({ token: value, depth: depth + 1 });
    }
  }
}

function refusalOf(token: CST.Token, depth: number): string | undefined {
  if (token.type === "alias") return "an alias is not taken, write the value again";
  if (token.type === "directive") return "a directive is not taken";
  if ("items" in token && token.items.length > itemsMax) {
    return `it has more than ${itemsMax} items`;
  }
  return depth > manifestDepthMax ? `it nests deeper than ${manifestDepthMax}` : undefined;
}

/** Offset of a number that JSON has no word for: infinite or none at all. */
function oddNumber(node: unknown): number | undefined {
  if (isScalar(node)) {
    const odd = typeof node.value === "number" && !Number.isFinite(node.value);
    return odd ? (node.range?.[0] ?? 0) : undefined;
  }
  if (!isCollection(node)) return undefined;
  for (const item of node.items) {
    const found = oddNumber(isMap(node) ? (item as Pair).value : item);
    if (found !== undefined) return found;
  }
  return undefined;
}

interface Ranged {
  readonly range?: readonly number[] | null;
}

/** Offset of the deepest part of `path` that is there. */
function offsetOf(document: Document, path: readonly string[], part: "name" | "value"): number {
  let node: unknown = document.contents;
  for (const [depth, name] of path.entries()) {
    const pair: Pair | undefined = isMap(node)
      ? node.items.find(({ key }) => isScalar(key) && key.value === name)
      : undefined;
    if (pair === undefined) break;
    if ((depth === path.length - 1 && part === "name") || pair.value === null) {
      return startOf(pair.key);
    }
    node = pair.value;
  }
  return startOf(node);
}

function startOf(node: unknown): number {
  return (node as Ranged | null)?.range?.[0] ?? 0;
}
