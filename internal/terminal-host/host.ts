// The calls of all terminals of a server: which terminal a session has, whether a call may run there,
// and what the programs of a terminal may ask. A terminal keeps the view that it was launched with; a
// call that is to have another one has a sandbox of its own.

import { coded, fail } from "../abi/mod.ts";
import { encodeTerminalCall } from "../capability/mod.ts";
import {
  type CallPlan,
  type LaunchIo,
  type LaunchOutcome,
  type LaunchRequest,
  refusalOf,
  type SessionOfAgent,
  viewDigest,
} from "../launch/mod.ts";
import { authorizeTool } from "../run/mod.ts";
import type { RunSocket, TerminalSocketHandlers } from "../run-socket/mod.ts";
import { wordsWaitingMax } from "./bounds.ts";
import { failed } from "./collected.ts";
import { callLine, Hosted, type HostedCall } from "./hosted.ts";
import { shownNote, shownWords } from "./shown.ts";
import type { HostedTerminal, TerminalHost, TerminalHostOptions } from "./types.ts";

interface Opened {
  readonly terminal: HostedTerminal;
  readonly hosted: Hosted;
  readonly socket: RunSocket;
  /** What `.git` was where calls can write, when it was last looked at. */
  git: ReadonlyMap<string, string> | undefined;
}

export function createTerminalHost(options: TerminalHostOptions): TerminalHost {
  return new Host(options);
}

class Host implements TerminalHost {
  readonly #options: TerminalHostOptions;
  readonly #opened = new Map<string, Opened>();

  constructor(options: TerminalHostOptions) {
    this.#options = options;
  }

  open(terminal: HostedTerminal): void {
    const { id, agent, session, peerUid, folder, roots } = terminal;
    if (this.#opened.has(id)) fail("EEXIST", `terminal "${id}" is open already`);
    const hosted = new Hosted();
    try {
      const handlers = this.#handlers(terminal, hosted);
      const named = { id, agent, session, peerUid, folder, roots, handlers };
      const socket = this.#options.sockets.openTerminal(named);
      this.#opened.set(id, { terminal, hosted, socket, git: undefined });
    } catch (error) {
      hosted.over();
      throw error;
    }
  }

  async close(id: string): Promise<void> {
    const opened = this.#opened.get(id);
    if (opened === undefined) return;
    this.#opened.delete(id);
    opened.hosted.over();
    await opened.socket.close();
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#opened.keys()].map((id) => this.close(id)));
  }

  serves(session: SessionOfAgent): boolean {
    return this.#of(session)?.hosted.serves ?? false;
  }

  note(session: SessionOfAgent, text: string): void {
    this.#of(session)?.hosted.note(shownNote(text));
  }

  async run(
    request: LaunchRequest,
    words: readonly string[],
    io: LaunchIo,
  ): Promise<LaunchOutcome | undefined> {
    const opened = this.#of(request);
    if (opened === undefined) return undefined;
    const apart = (why: string) => {
      opened.hosted.note(shownNote(`${request.tool.name} runs in a sandbox of its own: ${why}`));
      return undefined;
    };
    if (viewDigest(request) !== opened.terminal.viewDigest) {
      return apart("this terminal was started with another view of the host, see ctx agent stop");
    }
    const plan = this.#plan(request);
    if (!isPlan(plan)) return plan;
    const call = { run: request.run, plan, line: shownWords(words) };
    if (!fits(call)) return apart("its input is too long for one line");
    const before = opened.git ?? plan.gitEntries();
    const { ending, collected } = await opened.hosted.run(call, io);
    const outcome = collected.outcome(ending, before);
    opened.git = plan.gitEntries();
    return outcome;
  }

  /** The outcome, when a launch would be refused with it. */
  #plan(request: LaunchRequest): CallPlan | LaunchOutcome {
    try {
      return this.#options.planner.planCall(request);
    } catch (error) {
      const { code, message } = refusalOf(error);
      return failed(code, message);
    }
  }

  #of({ agent, session, scope }: SessionOfAgent): Opened | undefined {
    if (scope.kind !== "private") return undefined;
    return [...this.#opened.values()].find(
      ({ terminal }) => terminal.agent === agent && terminal.session === session,
    );
  }

  #handlers(terminal: HostedTerminal, hosted: Hosted): TerminalSocketHandlers {
    const { id, agent, session } = terminal;
    let words = 0;
    return {
      call: (request, signal) => this.#options.call(terminal, request, signal),
      authorize: async (request) =>
        authorizeTool(this.#options, { agent, session, run: id }, request),
      serve(shell) {
        const listener = hosted.attach(shell);
        return listener ?? fail("busy", `another shell serves the calls of terminal "${id}"`);
      },
      word: async ({ args }, signal) => {
        if (words >= wordsWaitingMax) {
          fail("busy", `${words} words of terminal "${id}" wait for its session already`);
        }
        words += 1;
        try {
          return await this.#options.word(terminal, args, signal);
        } finally {
          words -= 1;
        }
      },
    };
  }
}

function isPlan(value: CallPlan | LaunchOutcome): value is CallPlan {
  return "payload" in value;
}

/** Whether the call can be said at all; its id is the longest that there will be. */
function fits(call: HostedCall): boolean {
  try {
    encodeTerminalCall(callLine(`call-${Number.MAX_SAFE_INTEGER}`, call));
    return true;
  } catch (error) {
    if (coded(error).code === "EMSGSIZE") return false;
    throw error;
  }
}
