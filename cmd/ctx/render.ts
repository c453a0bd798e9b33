// Frames of a run as a person reads them: the assistant's text on standard output, what its tools do
// on standard error. Pure: a frame in, text for both streams out. Text from models and tools is
// escaped here, once.

import { type Code, frameTextUnitsMax } from "../../internal/abi/mod.ts";
import { escapeLine, escapeText, styled } from "../../internal/cli/mod.ts";
import type { OpFrame, RunStatus } from "../../internal/interaction/mod.ts";

/** Characters of a call's arguments, or of a failed result, that are shown on its line. */
const shortTextMax = 100;

export interface Rendered {
  readonly out: string;
  readonly err: string;
  /** Which of the two is to be written last: the other one only ends its line first. */
  readonly last: "out" | "err";
}

/** What became of the request, as far as its frames have said. */
export interface RunSummary {
  run: string | undefined;
  status: RunStatus | undefined;
  code: Code | undefined;
  message: string | undefined;
  /** The last whole answer. */
  text: string;
  toolCalls: number;
  inputTokens: number;
  outputTokens: number;
}

export class Renderer {
  readonly summary: RunSummary = {
    run: undefined,
    status: undefined,
    code: undefined,
    message: undefined,
    text: "",
    toolCalls: 0,
    inputTokens: 0,
    outputTokens: 0,
  };
  /** Text of the message that is arriving in deltas. */
  #streamed = "";
  /** Whether the last message was a piece of a long one, which the next message goes on with. */
  #goesOn = false;
  /** Whether each stream is at the start of a line. */
  #outFresh = true;
  #errFresh = true;
  readonly #colour: boolean;
  readonly #showUser: boolean;

  constructor(options: { colour: boolean; showUser?: boolean }) {
    this.#colour = options.colour;
    this.#showUser = options.showUser ?? false;
  }

  feed(frame: OpFrame): Rendered {
    switch (frame.type) {
      case "start":
        this.#goesOn = false;
        this.summary.run = frame.run;
        return frame.queued ? this.#noteLine("queued behind the session's active run") : nothing;
      case "delta":
        return this.#delta(frame.text);
      case "message":
        return this.#message(frame);
      case "tool_call":
        this.summary.toolCalls++;
        // What was said before a call belongs to that step; the final message does not repeat it.
        this.#streamed = "";
        this.#goesOn = false;
        return this.#noteLine(`> ${escapeLine(frame.name)} ${shortArguments(frame.args)}`);
      case "tool_delta":
        return this.#toolOutput(frame.text);
      case "tool_result":
        return this.#noteLine(resultLine(frame));
      case "usage":
        this.summary.inputTokens += frame.input_tokens;
        this.summary.outputTokens += frame.output_tokens;
        return nothing;
      case "error":
        this.summary.code = frame.code;
        this.summary.message = frame.message;
        return nothing;
      case "done":
        this.summary.run = frame.run ?? this.summary.run;
        this.summary.status = frame.status;
        this.summary.code = frame.code ?? this.summary.code;
        return this.#freshLine();
      default:
        return nothing;
    }
  }

  #delta(text: string): Rendered {
    this.#streamed += text;
    return this.#toOut(escapeText(text));
  }

  #message(frame: Extract<OpFrame, { type: "message" }>): Rendered {
    const text = frame.content.map((part) => part.text).join("");
    if (frame.role === "user") {
      return this.#showUser ? this.#noteLine(`< ${escapeLine(text)}`) : nothing;
    }
    this.summary.text = this.#goesOn ? this.summary.text + text : text;
    // A piece as long as a frame may hold is gone on with, so its line is not ended.
    this.#goesOn = text.length >= frameTextUnitsMax - 1;
    const rest = this.#toOut(escapeText(this.#missing(text)));
    const end = this.#goesOn ? nothing : this.#freshLine();
    return { out: rest.out + end.out, err: rest.err + end.err, last: "out" };
  }

  /** What was streamed is on the screen already; a replayed or cut stream is completed by this. */
  #missing(text: string): string {
    const streamed = this.#streamed;
    this.#streamed = streamed.startsWith(text) ? streamed.slice(text.length) : "";
    if (streamed.startsWith(text)) return "";
    return text.startsWith(streamed) ? text.slice(streamed.length) : `\n${text}`;
  }

  #toOut(text: string): Rendered {
    if (text === "") return nothing;
    const err = this.#errFresh ? "" : "\n";
    this.#errFresh = true;
    this.#outFresh = text.endsWith("\n");
    return { out: text, err, last: "out" };
  }

  #freshLine(): Rendered {
    const [out, err] = [this.#outFresh ? "" : "\n", this.#errFresh ? "" : "\n"];
    this.#outFresh = true;
    this.#errFresh = true;
    return { out, err, last: "out" };
  }

  #noteLine(text: string): Rendered {
    const fresh = this.#freshLine();
    const err = `${fresh.err}${styled(this.#colour, "dim", text)}\n`;
    return { out: fresh.out, err, last: "err" };
  }

  /** Live output of a tool, each line under its call with a bar in front. */
  #toolOutput(text: string): Rendered {
    const out = this.#outFresh ? "" : "\n";
    this.#outFresh = true;
    let err = "";
    for (const piece of escapeText(text).match(/[^\n]*\n|[^\n]+$/g) ?? []) {
      err += (this.#errFresh ? "  | " : "") + piece;
      this.#errFresh = piece.endsWith("\n");
    }
    return { out, err, last: "err" };
  }
}

const nothing: Rendered = { out: "", err: "", last: "out" };

function shorten(text: string): string {
  return text.length > shortTextMax ? `${text.slice(0, shortTextMax)}…` : text;
}

/** `path="README.md" depth=2`: values as JSON, the whole cut to one short line. */
export function shortArguments(args: unknown): string {
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    return shorten(escapeLine(JSON.stringify(args) ?? ""));
  }
  const parts = Object.entries(args).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return shorten(escapeLine(parts.join(" ")));
}

function resultLine(frame: Extract<OpFrame, { type: "tool_result" }>): string {
  const size = `${Buffer.byteLength(frame.content)} bytes${frame.truncated ? ", cut" : ""}`;
  const name = escapeLine(frame.name);
  if (frame.status === "ok") return `  ${name} ok (${size})`;
  const first = frame.content.trim().split("\n", 1)[0] ?? "";
  const code = frame.code === undefined ? "" : ` [${frame.code}]`;
  return `  ${name} failed: ${shorten(escapeLine(first))}${first.endsWith("]") ? "" : code}`;
}
