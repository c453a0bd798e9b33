// `ctx agent chat`: a person talks with an agent. Line editing is readline's; an answer is printed
// whole when it is there, so that it never mixes with what is being typed; tools are shown as they
// run. Ctrl-C cancels a running run and leaves an idle chat.

import { createInterface, type Interface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import {
  escapeText,
  isTerminal,
  note,
  onInterrupt,
  print,
  reportError,
  styled,
  wantsColour,
  writeBytes,
} from "../../internal/cli/mod.ts";
import type { Scope } from "../../internal/interaction/mod.ts";
import { terminalSize } from "../../internal/os/mod.ts";
import { linkAgent } from "./agent-link.ts";
import { workspaceOf, workspaceOptions } from "./agent-send.ts";
import { type Asker, askPerson } from "./approval-ask.ts";
import { type Decide, denyAll } from "./approval-desk.ts";
import { seenFile } from "./approval-file.ts";
import { approvalText } from "./approval-text.ts";
import type { Window } from "./approval-window.ts";
import { historyFile, loadHistory, saveHistory } from "./chat-history.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import type { AgentContext } from "./context.ts";
import { conclude, follow } from "./follow.ts";
import { scopeOf, sessionOf, sessionOptions } from "./session-option.ts";

export const spec: CommandSpec = {
  name: "agent chat",
  words: "<agent>",
  summary: "Talks with an agent, line by line; Ctrl-C cancels a run or leaves.",
  positionals: { agent: "Name of the agent" },
  options: { ...sessionOptions, ...workspaceOptions },
  json: false,
  examples: [["agent chat coder --session build-7", "go on in a named session"]],
};

/**
 * How long a question stands before a line counts as its answer, in milliseconds. What was typed while
 * the program was still busy with the question is read in that time, and nobody answers so fast.
 */
const unreadMs = 200;

interface Chat {
  readonly context: AgentContext;
  readonly session: string;
  readonly scope: Scope;
  readonly cwd: string | undefined;
  readonly workspace: string | undefined;
}

export async function run(args: Arguments): Promise<number> {
  const workspace = workspaceOf(args);
  const scope = scopeOf(args);
  // The person's history is looked for before root may become somebody else.
  const file = isTerminal(0) ? historyFile(args.need("agent"), process.env) : undefined;
  const known = loadHistory(file);
  const context = await linkAgent(args, args.need("agent"));
  const session = sessionOf(args, context);
  const chat = { context, session, scope, cwd: args.text("cwd"), workspace };
  note(`chat with ${context.agent}, session ${session}; Ctrl-D leaves`);
  const typed = await converse(chat, known);
  saveHistory(file, [...known, ...typed]);
  return 0;
}

/** Reads and answers lines until the end of input; gives back what was typed. */
async function converse(chat: Chat, known: readonly string[]): Promise<string[]> {
  const terminal = isTerminal(0) && isTerminal(1);
  // A dumb terminal cannot move its cursor: there the kernel's own line editing is the better one.
  const editing = terminal && process.env["TERM"] !== "dumb";
  const reader = createInterface({
    input: process.stdin,
    output: process.stdout,
    terminal: editing,
    history: [...known].reverse(),
    historySize: 1000,
    prompt: `${styled(wantsColour(1, process.env), "bold", `${chat.context.agent}>`)} `,
  });
  const lines = new LineQueue(reader);
  const decide = terminal ? personOf(chat, lines) : denyAll;
  // Readline sees the key itself and the process gets no signal.
  reader.on("SIGINT", () => {
    if (lines.answering) process.emit("SIGINT");
    else reader.close();
  });
  // Readline leaves its input paused after a stop by Ctrl-Z, and waits to be told to go on.
  reader.on("SIGCONT", () => reader.resume());
  const release = terminal && !editing ? onInterrupt(() => reader.close()) : undefined;
  const typed: string[] = [];
  if (terminal) reader.prompt();
  for (let line = await lines.next(); line !== undefined; line = await lines.next()) {
    if (line.trim() !== "") {
      typed.push(line);
      lines.answering = true;
      await answer(chat, line, decide);
      lines.answering = false;
    }
    if (terminal && !lines.ended) reader.prompt();
  }
  release?.();
  reader.close();
  if (terminal) print("");
  return typed;
}

/** One message and its answer; whatever goes wrong is said and the chat goes on. */
async function answer(chat: Chat, input: string, decide: Decide): Promise<void> {
  const { context, session, scope, cwd, workspace } = chat;
  const id = `ctx-chat-${crypto.randomUUID()}`;
  try {
    const request = { op: "send", id, session, scope, input, cwd, workspace } as const;
    const summary = await follow(context, request, { form: "quiet", decide });
    if (summary.text !== "") print(escapeText(summary.text).replace(/\n+$/, ""));
    conclude(context, summary, session);
  } catch (error) {
    writeBytes(2, new TextEncoder().encode(reportError("ctx", error, false).text));
  }
}

/** The person at this terminal decides, by what they could read themselves. */
function personOf({ context, workspace }: Chat, lines: LineQueue): Decide {
  return askPerson(lines, (frame) =>
    approvalText(frame, context.agent, (path) => seenFile(context, workspace, frame.cwd, path)),
  );
}

/** Lines as they are typed; those that come during an answer wait, but for answers to a question. */
class LineQueue implements Asker {
  answering = false;
  ended = false;
  readonly #waiting: string[] = [];
  readonly #reader: Interface;
  #wake: (() => void) | undefined;
  #answer: ((line: string | undefined) => void) | undefined;

  constructor(reader: Interface) {
    this.#reader = reader;
    reader.on("line", (line) => {
      if (this.#answer !== undefined) {
        this.#answer(line);
        return;
      }
      this.#waiting.push(line);
      this.#wake?.();
    });
    reader.on("close", () => {
      this.ended = true;
      this.#answer?.(undefined);
      this.#wake?.();
    });
  }

  window(): Window {
    // As it is now: the runtime's own numbers are those of the last signal that it has handled.
    const { cols, rows } = terminalSize(1);
    return { columns: cols || 80, rows: rows || 24 };
  }

  async ask(prompt: string, over: AbortSignal): Promise<string | undefined> {
    await pause(unreadMs);
    if (this.ended || over.aborted) return undefined;
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    const leave = () => resolve(undefined);
    over.addEventListener("abort", leave);
    const usual = this.#reader.getPrompt();
    this.#answer = resolve;
    this.#reader.setPrompt(prompt);
    if (this.#reader.terminal) {
      // What was typed before the question is no answer to it; taking it away shows the prompt.
      this.#reader.write(null, { ctrl: true, name: "e" });
      this.#reader.write(null, { ctrl: true, name: "u" });
    } else this.#reader.prompt();
    try {
      return await promise;
    } finally {
      this.#answer = undefined;
      this.#reader.setPrompt(usual);
      over.removeEventListener("abort", leave);
    }
  }

  /** Undefined at the end of input. */
  async next(): Promise<string | undefined> {
    while (this.#waiting.length === 0 && !this.ended) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
    }
    return this.#waiting.shift();
  }
}
