// Shows a terminal to the person, for `watch` and `attach`: prepares their own terminal, joins, and
// puts everything back on every way out, also when a signal ends the program.

import { constants } from "node:os";
import { fail } from "../../internal/abi/mod.ts";
import { isTerminal, note, printJson, ReaderGone } from "../../internal/cli/mod.ts";
import {
  defaultDetachKeys,
  detachKeys,
  endError,
  Join,
  type JoinEnd,
  type JoinMode,
  joinFirst,
  Output,
  PersonTerminal,
  readTerminal,
  subject,
  type TerminalConnection,
  type TerminalFiles,
  type TerminalName,
  terminalId,
  terminalSockets,
} from "../../internal/client/mod.ts";
import type { Arguments } from "./command.ts";
import { type NamedTerminal, openTerminal, terminalOptions } from "./terminal-word.ts";

export const showOptions = {
  ...terminalOptions,
  "detach-key": {
    type: "string",
    describe: `Keys that leave, as "^A d", or none (default: ${defaultDetachKeys})`,
  },
} as const;

export const showMore = `The keys Ctrl-\\ Ctrl-\\ leave; the terminal goes on. When the program in it ends, this command ends
with its exit status. Only a later command joins again.
`;

export const watchMore = `Nothing that is typed reaches the terminal: Ctrl-C or the keys Ctrl-\\ Ctrl-\\ leave. When the program in
it ends, this command ends with its exit status. In a pipe, what the terminal shows is passed on as it
is; --json prints a frame a line, the bytes in base64.
`;

/** Time in which a terminal that does not listen any more is written down as ended, in milliseconds. */
const writtenEndMs = 1_000;
const writtenEndPollMs = 25;

/** Signals that end the program, beside SIGINT, which ends every one. */
const endingSignals = ["SIGTERM", "SIGHUP", "SIGQUIT"] as const;

export async function showTerminal(args: Arguments, word: string, mode: JoinMode): Promise<number> {
  const keys = detachKeys(args.text("detach-key") ?? defaultDetachKeys);
  const [typing, showing] = [isTerminal(0), isTerminal(1)];
  if (mode === "attach" && !(typing && showing)) {
    fail("EINVAL", "attach needs a terminal as standard input and output", {
      hint: "to look only, see ctx agent watch --help; to send a message, see ctx agent send --help",
    });
  }
  const frames = mode === "watch" && args.flag("json");
  // Opened anew as who the caller is: the agent's owner may be nobody to this terminal.
  const output = new Output(1);
  const person = showing && !frames ? new PersonTerminal({ output, typing }) : undefined;
  try {
    const named = openTerminal(args, word);
    const connection = await joined(named, mode);
    if (frames) return await printFrames(connection, named);
    const show = new Show(named, mode, output, person, keys);
    const end = await howItEnded(named, await show.run(connection, typing && person !== undefined));
    return conclude(args, named, mode, end);
  } finally {
    person?.close();
  }
}

/**
 * Throws EHOSTDOWN when the session has no terminal that listens. One that its files call running is
 * waited for a moment: it may be about to listen, or to be written down as ended.
 */
async function joined(named: NamedTerminal, mode: JoinMode): Promise<TerminalConnection> {
  const { context, name } = named;
  const deadline = performance.now() + writtenEndMs;
  for (;;) {
    const connection = await joinFirst(terminalSockets(context.places, name), name, mode);
    if (connection !== undefined) return connection;
    const files = readTerminal(context.tree.source, name);
    const runs = files?.state === "starting" || files?.state === "ready";
    if (!runs || performance.now() > deadline) return refuse(name, files);
    await Bun.sleep(writtenEndPollMs);
  }
}

function refuse(name: TerminalName, files: TerminalFiles | undefined): never {
  const hint = `start it with ctx agent start ${name.agent} --session ${name.session}`;
  if (files?.state !== "exited") {
    return fail("EHOSTDOWN", `${subject(name)} has no terminal that listens`, { hint });
  }
  const status = files.status === null ? "" : ` with status ${files.status}`;
  return fail("EHOSTDOWN", `the terminal of ${subject(name)} has ended${status}`, {
    hint: `${hint}; what it showed: ctx terminal output ${name.agent} --session ${name.session}`,
  });
}

/** Every frame as a line of JSON, to the end. */
async function printFrames(connection: TerminalConnection, named: NamedTerminal): Promise<number> {
  for (;;) {
    const frame = await connection.next();
    if (frame === undefined) throw endError({ how: "lost" }, subject(named.name), "join it again");
    if (!("data" in frame)) printJson(frame);
    else printJson({ ...frame, data: Buffer.from(frame.data).toString("base64") });
    if (frame.type === "exit") return frame.status;
    if (frame.type === "error") {
      const end = { how: "dropped", code: frame.code, message: frame.message } as const;
      throw endError(end, subject(named.name), "join it again");
    }
  }
}

class Show {
  #current: Join | undefined;
  readonly #named: NamedTerminal;
  readonly #mode: JoinMode;
  readonly #output: Output;
  readonly #person: PersonTerminal | undefined;
  readonly #keys: readonly number[];

  constructor(
    named: NamedTerminal,
    mode: JoinMode,
    output: Output,
    person: PersonTerminal | undefined,
    keys: readonly number[],
  ) {
    this.#named = named;
    this.#mode = mode;
    this.#output = output;
    this.#person = person;
    this.#keys = keys;
  }

  async run(first: TerminalConnection, reads: boolean): Promise<JoinEnd> {
    let connection = first;
    const release = this.#catchSignals();
    try {
      await this.#person?.enter();
      if (reads) void this.#readKeys();
      for (;;) {
        const join = new Join({
          mode: this.#mode,
          connection,
          output: this.#output,
          person: this.#person,
          detachKeys: this.#keys,
        });
        this.#current = join;
        const end = await join.run();
        if (end.how !== "stopped") {
          await this.#person?.leave(join.written);
          return end;
        }
        await this.#person?.enter();
        connection = await joined(this.#named, this.#mode);
      }
    } catch (error) {
      // The reader of what is shown has gone, as `head` does.
      if ((error as { code?: string }).code === "EPIPE") throw new ReaderGone();
      throw error;
    } finally {
      this.#person?.close();
      release();
    }
  }

  async #readKeys(): Promise<void> {
    const reader = Bun.stdin.stream().getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return this.#current?.end({ how: "detached" });
      await this.#current?.typed(value);
    }
  }

  #catchSignals(): () => void {
    const person = this.#person;
    const taken: [NodeJS.Signals, () => void][] = [
      ["SIGWINCH", () => this.#current?.resized()],
      ...endingSignals.map((signal): [NodeJS.Signals, () => void] => [
        signal,
        () => {
          person?.close();
          process.exit(128 + constants.signals[signal]);
        },
      ]),
    ];
    if (person !== undefined) {
      taken.push(
        [
          "SIGTSTP",
          () => {
            person.restore();
            process.kill(process.pid, "SIGSTOP");
          },
        ],
        ["SIGCONT", () => this.#current?.end({ how: "stopped" })],
      );
    }
    for (const [signal, handler] of taken) process.on(signal, handler);
    return () => {
      for (const [signal, handler] of taken) process.removeListener(signal, handler);
    };
  }
}

/** A terminal that ends while it is joined may be gone before it could tell; its files know then. */
async function howItEnded({ context, name }: NamedTerminal, end: JoinEnd): Promise<JoinEnd> {
  const deadline = performance.now() + writtenEndMs;
  while (end.how === "lost" && performance.now() < deadline) {
    const files = readTerminal(context.tree.source, name);
    if (files?.state === "exited" && files.status !== null) {
      const { signal } = files.meta;
      return {
        how: "exited",
        status: files.status,
        signal: typeof signal === "number" ? signal : 0,
      };
    }
    if (files === undefined) break;
    await Bun.sleep(writtenEndPollMs);
  }
  return end;
}

function conclude(args: Arguments, named: NamedTerminal, mode: JoinMode, end: JoinEnd): number {
  const { name } = named;
  const again = `ctx agent ${mode} ${name.agent} --session ${name.session}`;
  const error = endError(end, subject(name), `join again with ${again}`);
  if (error !== undefined) throw error;
  const exited = end.how === "exited";
  if (args.flag("json")) {
    const facts = exited ? { status: end.status, signal: end.signal || null } : {};
    printJson({ terminal: terminalId(name), session: name.session, end: end.how, ...facts });
  } else if (isTerminal(2)) note(`${terminalId(name)}: ${endText(end, again)}`);
  if (exited) return end.status;
  return end.how === "interrupted" ? 130 : 0;
}

function endText(end: JoinEnd, again: string): string {
  if (end.how !== "exited") return `left, it goes on; join again with ${again}`;
  const names = Object.entries(constants.signals).filter(([, number]) => number === end.signal);
  const signal = names[0]?.[0] ?? `signal ${end.signal}`;
  return end.signal ? `ended by ${signal}` : `ended with status ${end.status}`;
}
