// debug/script: a model whose answer is a function of the messages and nothing else, so that runs
// can be demonstrated, tested and repeated with no network. One step runs directives of the last
// user message until a call ends it; the next step goes on after that call. How far the script got
// is read from the messages (tool results since that user message), so there is no state to lose.

import type { Code } from "../abi/mod.ts";
import { type Directive, parseScript } from "./script-grammar.ts";
import type { ModelEvent, ModelMessage } from "./types.ts";

/** Characters of one delta, so that long output streams as a real model's does. */
export const scriptDeltaCharsMax = 4096;

export type ScriptEvent =
  | ModelEvent
  | { readonly type: "delay"; readonly ms: number }
  | { readonly type: "error"; readonly code: Code; readonly text: string };

interface Turn {
  readonly text: string;
  /** Contents of the tool results since the user message, in order. */
  readonly results: readonly string[];
}

/** The events of the step that answers `messages`. Throws EINVAL before the first for a bad script. */
export function scriptStep(messages: readonly ModelMessage[]): Iterable<ScriptEvent> {
  const turn = lastTurn(messages);
  const directives = parseScript(turn.text);
  if (directives.length === 0) return plain(`script: ${turn.text}`);
  const start = resumeAt(directives, turn.results.length);
  if (start === directives.length && turn.results.length > 0) return plain("script: done");
  return play(directives.slice(start), turn.results);
}

export function lastTurn(messages: readonly ModelMessage[]): Turn {
  let text = "";
  let results: string[] = [];
  for (const message of messages) {
    if (message.role === "user") {
      text = message.text;
      results = [];
    } else if (message.role === "tool") {
      results.push(message.content);
    }
  }
  return { text, results };
}

/** Index of the first directive after the calls that `results` answers. */
function resumeAt(directives: readonly Directive[], results: number): number {
  let answered = 0;
  if (results === 0) return 0;
  for (const [index, directive] of directives.entries()) {
    if (directive.kind !== "calls") continue;
    answered += directive.calls.length;
    if (answered >= results) return index + 1;
  }
  return directives.length;
}

function* plain(text: string): Iterable<ScriptEvent> {
  yield* deltas(text);
  yield { type: "finish" };
}

function* play(
  directives: readonly Directive[],
  results: readonly string[],
): Iterable<ScriptEvent> {
  let spoke = false;
  for (const directive of directives) {
    const text = spoken(directive, results);
    if (text !== undefined) {
      if (spoke) yield { type: "delta", text: "\n" };
      spoke = true;
      yield* text;
      continue;
    }
    switch (directive.kind) {
      case "reasoning":
        yield { type: "reasoning", text: directive.text };
        break;
      case "delay":
        yield { type: "delay", ms: directive.ms };
        break;
      case "error":
        yield { type: "error", code: directive.code, text: directive.text };
        return;
      case "usage":
        yield {
          type: "usage",
          inputTokens: directive.inputTokens,
          outputTokens: directive.outputTokens,
        };
        break;
      case "calls":
        for (const [index, call] of directive.calls.entries()) {
          yield { type: "call", id: `script-${results.length + index + 1}`, ...call };
        }
        yield { type: "finish" };
        return;
    }
  }
  yield { type: "finish" };
}

/** The deltas of a directive that speaks; undefined for the others. */
function spoken(
  directive: Directive,
  results: readonly string[],
): Iterable<ModelEvent> | undefined {
  if (directive.kind === "say") return deltas(directive.text);
  if (directive.kind === "result") return deltas(results.at(-1) ?? "");
  if (directive.kind === "repeat") return repeated(directive.text, directive.times);
  return undefined;
}

function* repeated(text: string, times: number): Iterable<ModelEvent> {
  const perDelta = Math.max(1, Math.floor(scriptDeltaCharsMax / Math.max(1, text.length)));
  for (let done = 0; done < times; done += perDelta) {
    yield* deltas(text.repeat(Math.min(perDelta, times - done)));
  }
}

/** Cuts on code points, so that no delta ends in half a surrogate pair. */
export function* deltas(text: string, charsMax = scriptDeltaCharsMax): Iterable<ModelEvent> {
  let start = 0;
  while (start < text.length) {
    let end = Math.min(text.length, start + charsMax);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last < 0xdc00) end += 1;
    yield { type: "delta", text: text.slice(start, end) };
    start = end;
  }
}
