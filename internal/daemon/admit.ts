// Whether a request may reach an agent's sessions at all: the agent's controls are whole, it still
// belongs to whom its socket was given, and a shared scope is open to it. Reads the files anew for
// every request.

import { fail } from "../abi/mod.ts";
import { decide, firstRefusal, gatherFacts, type Question, type Server } from "../authority/mod.ts";
import type { OpRequest } from "../interaction/mod.ts";
import { loadAgent, type Tree } from "../tree/mod.ts";

export interface AdmitInput {
  readonly tree: Tree;
  readonly server: Server;
  readonly agent: string;
  /** The uid that the agent's socket was given to. */
  readonly owner: number;
}

/** A terminal is of a private session. */
const privateScope = { kind: "private" } as const;

/** What is admitted in every state of the agent: what ends or shows something must always work. */
const always: readonly OpRequest["op"][] = ["ping", "cancel", "approve", "stop", "ps"];

/** Throws the coded reason of a refusal. */
export function admit(input: AdmitInput, request: OpRequest): void {
  if (always.includes(request.op)) return;
  const scope = "scope" in request ? request.scope : privateScope;
  // A question about a private session is answered even while a control is being repaired.
  if (request.op === "status" && scope.kind !== "shared") return;
  const { tree, server, agent, owner } = input;
  const controls = loadAgent(tree, agent);
  if (controls.owner !== owner) {
    fail(
      "EACCES",
      `agent "${agent}" belongs to uid ${controls.owner} now, its socket to ${owner}`,
      {
        hint: "run ctxd's rescan",
      },
    );
  }
  if (scope.kind !== "shared") return;
  const isWriting = request.op === "send" || request.op === "tsh";
  const permissions = isWriting ? ["read", "write"] : ["read"];
  for (const permission of permissions) {
    const question: Question = { object: { class: "shared", name: scope.space }, permission };
    const verdict = decide(gatherFacts({ tree, server, agent, controls, question }), question);
    if (verdict.allowed) continue;
    const because = firstRefusal(verdict)?.because ?? "no layer allows it";
    fail(verdict.code ?? "EACCES", `shared space "${scope.space}" is not open: ${because}`, {
      hint: `see ctx policy explain ${agent} shared:${scope.space} ${permission}`,
    });
  }
}
