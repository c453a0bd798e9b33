// What `ctx status` knows, and how it reads. Pure, and free of node:fs, as `glance.ts` needs it.

import { escapeText, safeJson } from "../../internal/cli/mod.ts";

export interface ServerFacts {
  readonly pid: number;
  readonly version: string;
  readonly agents: readonly string[];
  readonly sessions: { readonly open: number; readonly running: number; readonly queued: number };
  readonly faults: readonly { readonly agent: string; readonly message: string }[];
}

export interface StatusFacts {
  readonly source: string;
  readonly root: string;
  readonly runtime: string;
  readonly mode: string;
  readonly agents: readonly string[];
  /** Undefined when nobody listens, "silent" when nothing useful was said. */
  readonly server: ServerFacts | "silent" | undefined;
}

export function statusText(facts: StatusFacts, json: boolean): string {
  const { source, root, runtime, mode, agents, server } = facts;
  if (json) return `${safeJson({ ...facts, server: server ?? null })}\n`;
  const lines = [
    `source   ${source}`,
    ...(root === source ? [] : [`view     ${root}`]),
    `runtime  ${runtime} (${mode} mode)`,
    `agents   ${agents.join(" ") || "none"}`,
    ...serverLines(server),
  ];
  return lines.map((line) => `${escapeText(line)}\n`).join("");
}

function serverLines(server: StatusFacts["server"]): string[] {
  if (server === undefined) return ["server   not running"];
  if (server === "silent") return ["server   not answering: it is stopped or stuck"];
  const { pid, version, sessions, faults } = server;
  const counts = `${sessions.open} open, ${sessions.running} running, ${sessions.queued} queued`;
  return [
    `server   running, pid ${pid}, version ${version}; sessions: ${counts}`,
    ...faults.map(({ agent, message }) => `fault    ${agent}: ${message}`),
  ];
}
