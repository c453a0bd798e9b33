// The ops about terminals: each answer is a `status` with one member more, one for every terminal.

import type { OpFrame, PsRequest, StartRequest, StopRequest } from "../interaction/mod.ts";
import type { TerminalFacts, TerminalState, Terminals } from "../supervise/mod.ts";
import { noRecord } from "./op-wire.ts";

type StatusFrame = Extract<OpFrame, { type: "status" }>;

/** What the states are to a client that knows nothing of terminals. */
const statuses: Readonly<Record<TerminalState, StatusFrame["status"]>> = {
  starting: "active",
  ready: "active",
  exited: "done",
  lost: "error",
};

export async function answerTerminal(
  terminals: Terminals,
  agent: string,
  request: StartRequest | StopRequest | PsRequest,
): Promise<readonly OpFrame[]> {
  switch (request.op) {
    case "start": {
      const { session, cwd, mounts, command } = request;
      return [statusOf(await terminals.start({ agent, session, cwd, mounts, command }))];
    }
    case "stop":
      return [statusOf(await terminals.stop(agent, request.session))];
    case "ps":
      return terminals.list(agent).map(statusOf);
  }
}

function statusOf({ agent: _, session, ...terminal }: TerminalFacts): StatusFrame {
  return {
    ...{ type: "status", id: noRecord, session, status: statuses[terminal.state] },
    ...{ phase: terminal.state, run: null, step: 0, model: null },
    updated_at: new Date().toISOString(),
    terminal,
  };
}
