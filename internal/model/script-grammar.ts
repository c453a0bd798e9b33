// The grammar of debug/script: directives in a user message, one a line, each starting with `@`.
// Parsing is pure and whole: either every directive of the message is well formed or the first bad
// one is reported by its line, before anything runs. docs/design/debug-script.md describes it.

import { type Code, CodedError, fail, isCode } from "../abi/mod.ts";

/** Longest wait of one `@delay`, in milliseconds. Past it EINVAL. */
export const scriptDelayMsMax = 60_000;

/** Bytes that one `@repeat` may produce. Past it EINVAL. */
export const scriptRepeatBytesMax = 12 * 1024 * 1024;

/** Calls that one `@calls` may list. Past it EINVAL. */
export const scriptCallsMax = 32;

export interface ScriptCall {
  readonly name: string;
  /** Undefined for a call whose arguments are broken on purpose. */
  readonly args: unknown;
  readonly raw: string;
}

export type Directive =
  | { readonly kind: "say" | "reasoning"; readonly text: string }
  | { readonly kind: "repeat"; readonly times: number; readonly text: string }
  | { readonly kind: "delay"; readonly ms: number }
  | { readonly kind: "error"; readonly code: Code; readonly text: string }
  | { readonly kind: "usage"; readonly inputTokens: number; readonly outputTokens: number }
  | { readonly kind: "result" }
  | { readonly kind: "calls"; readonly calls: readonly ScriptCall[] };

/** Directives in order; lines that do not start with `@` are for the reader. Throws EINVAL. */
export function parseScript(text: string): readonly Directive[] {
  const directives: Directive[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (!line.startsWith("@")) continue;
    try {
      directives.push(parseDirective(line.replace(/\r$/, "")));
    } catch (thrown) {
      if (!(thrown instanceof CodedError)) throw thrown;
      fail("EINVAL", `script line ${index + 1} is malformed: ${thrown.message}`, {
        place: { file: "debug/script", line: index + 1, column: 1 },
        hint: "the directives are @say @call @calls @bad-args @result @reasoning @repeat @delay @usage @error",
      });
    }
  }
  return directives;
}

function parseDirective(line: string): Directive {
  const [word, rest] = cut(line.slice(1));
  switch (word) {
    case "say":
    case "reasoning":
      return { kind: word, text: rest };
    case "call":
      return { kind: "calls", calls: [parseCall(rest)] };
    case "calls":
      return { kind: "calls", calls: parseCalls(rest) };
    case "bad-args":
      return { kind: "calls", calls: [parseBadCall(rest)] };
    case "result":
      return rest === "" ? { kind: "result" } : fail("EINVAL", "@result takes nothing after it");
    case "repeat":
      return parseRepeat(rest);
    case "delay":
      return { kind: "delay", ms: count("@delay", rest, scriptDelayMsMax) };
    case "usage": {
      const [input, output] = cut(rest);
      const inputTokens = count("@usage", input, 2 ** 32 - 1);
      return { kind: "usage", inputTokens, outputTokens: count("@usage", output, 2 ** 32 - 1) };
    }
    case "error": {
      const [code, text] = cut(rest);
      if (isCode(code)) return { kind: "error", code, text: text === "" ? "scripted" : text };
      return fail("EINVAL", `@error needs a code of the table, not ${JSON.stringify(code)}`);
    }
    default:
      return fail("EINVAL", `${JSON.stringify(`@${word}`)} is not a directive`);
  }
}

/** The first word and what follows the one space after it. */
function cut(text: string): [string, string] {
  const space = text.indexOf(" ");
  return space < 0 ? [text, ""] : [text.slice(0, space), text.slice(space + 1)];
}

function count(directive: string, text: string, max: number): number {
  const value = /^(0|[1-9][0-9]{0,9})$/.test(text) ? Number(text) : Number.NaN;
  if (value <= max) return value;
  return fail("EINVAL", `${directive} needs a whole number from 0 to ${max}, not "${text}"`);
}

function parseRepeat(rest: string): Directive {
  const [number, text] = cut(rest);
  const times = count("@repeat", number, scriptRepeatBytesMax);
  if (times * Buffer.byteLength(text) > scriptRepeatBytesMax) {
    fail("EINVAL", `@repeat would produce more than ${scriptRepeatBytesMax} bytes`);
  }
  return { kind: "repeat", times, text };
}

function parseCall(rest: string): ScriptCall {
  const [name, json] = cut(rest);
  if (name === "") fail("EINVAL", "@call needs a tool name");
  return scriptCall(name, json === "" ? {} : parseJson("@call", json));
}

function parseCalls(rest: string): readonly ScriptCall[] {
  const list = parseJson("@calls", rest);
  if (!Array.isArray(list) || list.length === 0 || list.length > scriptCallsMax) {
    return fail("EINVAL", `@calls needs a list of 1 to ${scriptCallsMax} pairs ["NAME",{…}]`);
  }
  return list.map((pair: unknown) => {
    if (!Array.isArray(pair) || pair.length !== 2 || typeof pair[0] !== "string") {
      return fail("EINVAL", `@calls needs pairs ["NAME",{…}]`);
    }
    return scriptCall(pair[0], pair[1]);
  });
}

function parseBadCall(rest: string): ScriptCall {
  const [name, raw] = cut(rest);
  if (name === "") fail("EINVAL", "@bad-args needs a tool name");
  return { name, args: undefined, raw };
}

function scriptCall(name: string, args: unknown): ScriptCall {
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    fail("EINVAL", `the arguments of "${name}" are not a JSON object`);
  }
  return { name, args, raw: JSON.stringify(args) };
}

function parseJson(directive: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return fail(
      "EINVAL",
      `${directive} needs valid JSON, not ${JSON.stringify(text.slice(0, 80))}`,
    );
  }
}
