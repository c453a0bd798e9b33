// What the commands say of a terminal, the same whether its server or its files know it.

import { note, print, printJson } from "../../internal/cli/mod.ts";
import {
  joinFirst,
  type TerminalFiles,
  type TerminalName,
  terminalSockets,
} from "../../internal/client/mod.ts";
import type { OpFrame } from "../../internal/interaction/mod.ts";
import type { Arguments } from "./command.ts";
import type { Context } from "./context.ts";

export interface ShownTerminal {
  readonly terminal: string;
  readonly agent: string;
  readonly session: string;
  /** starting, ready, exited or lost. */
  readonly state: string;
  /** Of an exited one, as of a shell. */
  readonly status: number | null;
  readonly signal: number | null;
  /** In the agent's view. */
  readonly cwd: string | null;
  /** Of the host. */
  readonly workspace: string | null;
  readonly supervisor: string | null;
  readonly unit: string | null;
  readonly socket: string | null;
  readonly started_at: string | null;
  readonly ended_at: string | null;
}

/** Of what a server's frame holds, or the files. */
export function shown(
  facts: Readonly<Record<string, unknown>>,
  of: Pick<ShownTerminal, "terminal" | "agent" | "session">,
): ShownTerminal {
  const text = (name: string) => (typeof facts[name] === "string" ? String(facts[name]) : null);
  const number = (name: string) => (typeof facts[name] === "number" ? Number(facts[name]) : null);
  return {
    terminal: of.terminal,
    agent: of.agent,
    session: of.session,
    state: text("state") ?? "unknown",
    status: number("status"),
    signal: number("signal"),
    cwd: text("cwd"),
    workspace: text("workspace"),
    supervisor: text("supervisor"),
    unit: text("unit"),
    socket: text("socket"),
    started_at: text("started_at"),
    ended_at: text("ended_at"),
  };
}

export function shownFiles(files: TerminalFiles): ShownTerminal {
  const { id, agent, session, state, status, cwd, meta } = files;
  return shown({ ...meta, state, status, cwd }, { terminal: id, agent, session });
}

/** Of an answer to `start`, `stop` or `ps`; undefined for a frame that names no terminal. */
export function shownFrame(agent: string, frame: OpFrame): ShownTerminal | undefined {
  if (frame.type !== "status" || frame.terminal === undefined) return undefined;
  const { session, terminal } = frame;
  return shown({ ...terminal }, { terminal: terminal.id, agent, session });
}

export interface LiveTerminal {
  /** Whether its socket answers now. */
  readonly reachable: boolean;
  readonly cols: number | null;
  readonly rows: number | null;
}

/** Time a terminal gets to show itself. Past it, it is reachable and no more is known. */
const firstFrameMs = 2_000;

/** Joins for a look. What keeps it from that is thrown, but for nobody being there. */
export async function lookAt({ places }: Context, name: TerminalName): Promise<LiveTerminal> {
  const connection = await joinFirst(terminalSockets(places, name), name, "watch");
  if (connection === undefined) return { reachable: false, cols: null, rows: null };
  const late = setTimeout(() => connection.close(), firstFrameMs);
  try {
    for (;;) {
      const frame = await connection.next();
      if (frame === undefined) return { reachable: true, cols: null, rows: null };
      if (frame.type === "snapshot" || frame.type === "resize") {
        return { reachable: true, cols: frame.cols, rows: frame.rows };
      }
    }
  } finally {
    clearTimeout(late);
    connection.close();
  }
}

/** What `start` says: the terminal, and how it is joined. */
export function printStarted(args: Arguments, facts: ShownTerminal): void {
  if (args.flag("json")) {
    printJson(facts);
    return;
  }
  print(`${facts.terminal} ${stateText(facts)}`);
  const join = `${facts.agent} --session ${facts.session}`;
  note(`join it with ctx agent attach ${join}, look with ctx agent watch ${join}`);
}

/** A line of a list, or the facts. */
export function printShown(args: Arguments, facts: ShownTerminal): void {
  if (args.flag("json")) {
    printJson(facts);
    return;
  }
  const since = facts.ended_at ?? facts.started_at;
  const state = stateText(facts);
  print(`${facts.terminal.padEnd(32)} ${state.padEnd(12)} ${since ?? "-"}  ${facts.cwd ?? "-"}`);
}

export function stateText({ state, status, signal }: ShownTerminal): string {
  if (state !== "exited" || status === null) return state;
  return signal === null || signal === 0
    ? `exited ${status}`
    : `exited ${status} (signal ${signal})`;
}
