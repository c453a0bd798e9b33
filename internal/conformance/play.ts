// Plays one talk against a server, step by step. Each step has its own time; the first step that
// does not go as written ends the talk and is told with what was expected and what came.

import { randomBytes } from "node:crypto";
import { type Bindings, match, substitute } from "./pattern.ts";
import type { Step, Talk, TalkAbi } from "./talk.ts";
import type { Received, TalkConnection } from "./talk-connection.ts";

export interface PlayOptions {
  readonly connect: () => Promise<TalkConnection>;
  /** Values of `<agent>` and, at a run's capability socket, of `<session>` and `<run>`. */
  readonly given: Readonly<Record<string, string>>;
  /** Milliseconds that one step may take. */
  readonly stepMs: number;
  /** Why a line that a talk of this protocol received is no right frame, whatever is expected. */
  readonly faultOf: (abi: TalkAbi, line: string) => string | undefined;
}

export interface Failure {
  /** Line of the talk. */
  readonly line: number;
  readonly on: string;
  /** JSON Pointer into what came; undefined when it is about all of it. */
  readonly path?: string;
  readonly reason: string;
  readonly expected: string;
  readonly came: string;
}

export interface Outcome {
  readonly talk: Talk;
  /** Undefined when everything went as written. */
  readonly failure: Failure | undefined;
  /** Why it was not played; then it neither passed nor failed. */
  readonly skipped?: string;
  readonly milliseconds: number;
}

/** Default of the time one step may take. A tool call starts a sandbox, which is the slowest. */
export const stepMsDefault = 10_000;

/** Characters of a frame in a report; the rest is cut. */
const shownCharsMax = 2000;

/** Never throws for what a server does. */
export async function playTalk(talk: Talk, options: PlayOptions): Promise<Outcome> {
  const begun = performance.now();
  const player = new Player(talk, options);
  let failure: Failure | undefined;
  try {
    for (const step of talk.steps) {
      failure = await player.step(step);
      if (failure !== undefined) break;
    }
  } finally {
    player.close();
  }
  return { talk, failure, milliseconds: Math.round(performance.now() - begun) };
}

/** A talk that cannot be played, with the reason. */
export function skippedTalk(talk: Talk, skipped: string): Outcome {
  return { talk, failure: undefined, skipped, milliseconds: 0 };
}

type Wrong = Omit<Failure, "line" | "on">;

class Player {
  readonly #talk: Talk;
  readonly #options: PlayOptions;
  readonly #connections = new Map<string, TalkConnection>();
  #bindings: Bindings;

  constructor(talk: Talk, options: PlayOptions) {
    this.#talk = talk;
    this.#options = options;
    this.#bindings = new Map(Object.entries(options.given));
  }

  close(): void {
    for (const connection of this.#connections.values()) connection.destroy();
  }

  async step({ line, on, action }: Step): Promise<Failure | undefined> {
    const deadline = performance.now() + this.#options.stepMs;
    let connection = this.#connections.get(on);
    if (connection === undefined) {
      try {
        connection = await this.#options.connect();
      } catch (error) {
        const came = error instanceof Error ? error.message : String(error);
        return { line, on, reason: "no connection", expected: "a connection", came };
      }
      this.#connections.set(on, connection);
    }
    const wrong = await this.#act(action, connection, deadline);
    return wrong && { line, on, ...wrong };
  }

  async #act(
    action: Step["action"],
    connection: TalkConnection,
    deadline: number,
  ): Promise<Wrong | undefined> {
    switch (action.kind) {
      case "send": {
        const filled = substitute(action.frame, this.#bindings, freshName);
        this.#bindings = filled.bindings;
        connection.send(`${JSON.stringify(filled.value)}\n`);
        return undefined;
      }
      case "send_line":
        connection.send(`${action.text}\n`);
        return undefined;
      case "send_bytes":
        connection.send(action.bytes);
        return undefined;
      case "send_repeat": {
        const { before, unit, times, after } = action;
        connection.send(`${before}${unit.repeat(times)}${after}\n`);
        return undefined;
      }
      case "expect":
        return this.#expect(action.pattern, connection, deadline);
      case "expect_text":
        return this.#expectText(action.of, action.text, connection, deadline);
      case "expect_close":
        return expectClose(connection, deadline, this.#options.stepMs);
      case "close":
        if (action.how === "write") connection.finishWriting();
        else await connection.close(deadline);
        return undefined;
    }
  }

  async #expect(
    pattern: unknown,
    connection: TalkConnection,
    deadline: number,
  ): Promise<Wrong | undefined> {
    const expected = JSON.stringify(pattern);
    for (let skipped = 0; ; skipped++) {
      const received = await connection.peek(deadline);
      const frame = frameOf(received);
      if (frame === undefined) {
        const reason = whyNoFrame(received, skipped, this.#options.stepMs);
        return { reason, expected, came: cut(received) };
      }
      connection.drop();
      const fault = this.#faultOf(received);
      if (fault !== undefined) return { reason: fault, expected, came: cut(received) };
      const matched = match(pattern, frame, this.#bindings);
      if (matched.ok) {
        this.#bindings = matched.bindings;
        return undefined;
      }
      if (this.#talk.maySkip.has(kindOf(this.#talk.abi, frame))) continue;
      const { path, reason } = matched;
      return { path, reason, expected, came: cut(received) };
    }
  }

  #faultOf(received: Received): string | undefined {
    if (typeof received === "string" || !received.ok) return undefined;
    const fault = this.#options.faultOf(this.#talk.abi, received.line);
    return fault && `it is no right frame: ${fault}`;
  }

  async #expectText(
    of: string,
    text: string,
    connection: TalkConnection,
    deadline: number,
  ): Promise<Wrong | undefined> {
    const { abi, maySkip } = this.#talk;
    let got = "";
    for (;;) {
      const received = await connection.peek(deadline);
      const frame = frameOf(received);
      const kind = frame === undefined ? undefined : kindOf(abi, frame);
      const fault = this.#faultOf(received);
      if (frame !== undefined && fault !== undefined) {
        return { reason: fault, expected: JSON.stringify(text), came: cut(received) };
      }
      if (frame !== undefined && kind === of) {
        got += textOf(abi, frame);
        // Told at once, so that a text without an end is not kept.
        if (!text.startsWith(got)) return anotherText(of, text, got, undefined);
      } else if (kind === undefined || !maySkip.has(kind)) {
        return got === text ? undefined : anotherText(of, text, got, kind ?? "the end");
      }
      connection.drop();
    }
  }
}

function anotherText(of: string, text: string, got: string, upTo: string | undefined): Wrong {
  const reason = `the text of ${of} is another one${upTo === undefined ? "" : `, up to ${upTo}`}`;
  return { reason, expected: JSON.stringify(text), came: cut(JSON.stringify(got)) };
}

async function expectClose(
  connection: TalkConnection,
  deadline: number,
  stepMs: number,
): Promise<Wrong | undefined> {
  const received = await connection.peek(deadline);
  if (received === "end") return undefined;
  const reason =
    received === "late"
      ? `the server did not close within ${stepMs} ms`
      : "the server sent something where it should have closed";
  return { reason, expected: "the end of the connection", came: cut(received) };
}

type Frame = Readonly<Record<string, unknown>>;

function frameOf(received: Received): Frame | undefined {
  if (typeof received === "string" || !received.ok) return undefined;
  try {
    return asObject(JSON.parse(received.line));
  } catch {
    return undefined;
  }
}

function whyNoFrame(received: Received, skipped: number, stepMs: number): string {
  if (received === "late") {
    const what = skipped === 0 ? "nothing" : "nothing but what may be skipped";
    return `${what} came within ${stepMs} ms`;
  }
  if (received === "end") return "the server closed";
  return received.ok ? "the line is no JSON object" : received.reason;
}

function asObject(value: unknown): Frame | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Frame)
    : undefined;
}

/** Where a protocol keeps the kind of a frame and its text. */
function bodyOf(abi: TalkAbi, frame: Frame): Frame {
  if (abi === "v1") return asObject(asObject(frame["payload"])?.["value"]) ?? {};
  if (abi !== "v2") return frame;
  const event = asObject(frame["event"]) ?? {};
  return event["kind"] === "event" ? (asObject(event["data"]) ?? {}) : event;
}

/** A v2 `event` counts as the type that it carries. */
function kindOf(abi: TalkAbi, frame: Frame): string {
  const body = bodyOf(abi, frame);
  return String(body["type"] ?? body["kind"] ?? "");
}

function textOf(abi: TalkAbi, frame: Frame): string {
  const { text } = bodyOf(abi, frame);
  return typeof text === "string" ? text : "";
}

function freshName(): string {
  return `talk-${randomBytes(8).toString("hex")}`;
}

function cut(came: Received | string): string {
  if (came === "end") return "the end of the connection";
  if (came === "late") return "nothing";
  const text = typeof came === "string" ? came : came.ok ? came.line : came.reason;
  return text.length > shownCharsMax ? `${text.slice(0, shownCharsMax)}…` : text;
}
