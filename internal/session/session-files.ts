// The derived files of one session and of the index beside it: what other programs read to know
// how a session stands without its log. All of it can be rebuilt from the log.

import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { FileOwner } from "../os/mod.ts";
import { DerivedFiles, type Root, type SessionLog } from "../session-log/mod.ts";
import { derivedDelayMs } from "./bounds.ts";
import type { SessionFacts } from "./facts.ts";
import type { Placement } from "./placement.ts";

export type SessionState = "active" | "idle" | "done" | "error";

/** idle: nothing ever ended here; error: the last run failed. */
export function restingState(facts: SessionFacts): SessionState {
  if (facts.last === undefined) return "idle";
  return facts.last.status === "error" ? "error" : "done";
}

export function deriveSession(
  log: SessionLog,
  placement: Placement,
  facts: SessionFacts,
  state: SessionState,
  run: string | null,
): void {
  const updated = facts.updated ?? "";
  const { agent, session } = placement;
  const last = facts.last === undefined ? null : { run: facts.last.run, status: facts.last.status };
  const files = {
    state: `${state}\n`,
    "state.json": `${JSON.stringify({ state, run, head: log.head, last, updated_at: updated })}\n`,
    updated_at: `${updated}\n`,
    ...(facts.latest === undefined ? {} : { "latest.md": endLine(facts.latest) }),
    ...(facts.cwd === undefined ? {} : { cwd: `${facts.cwd}\n` }),
    "meta.json": `${JSON.stringify({ schema: "cortexfs.session/v1", agent, session, scope: placement.scope })}\n`,
  };
  log.derive(files, state === "active" ? derivedDelayMs : 0);
}

/** The state of a session whose log cannot be opened; the log itself is left as it is. */
export function deriveUnopened(root: Root, relative: string, owner: FileOwner): void {
  const files = new DerivedFiles(root, relative, owner, false);
  files.set({ state: "error\n" }, 0);
  files.flush();
}

function endLine(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}

/** The index folder beside the sessions: `list`, `current`, `by-cwd/<sha256 of the folder>`. */
export class SessionIndex {
  readonly #files: DerivedFiles;
  readonly #folder: string;

  constructor(root: Root, relative: string, owner: FileOwner) {
    const sessions = relative.slice(0, relative.lastIndexOf("/"));
    this.#folder = join(root.path, sessions);
    this.#files = new DerivedFiles(root, `${sessions}/index`, owner, true);
  }

  /** A session was used; `cwd` is its folder on the host, or its start folder in the view. */
  used(session: string, cwd: string | undefined): void {
    this.#files.set({ current: `${session}\n` }, derivedDelayMs);
    if (cwd === undefined) return;
    const hash = createHash("sha256").update(cwd).digest("hex");
    this.#files.set({ [`by-cwd/${hash}`]: `${session}\n` }, derivedDelayMs);
  }

  /** A session was made or found: the list is read from the folder, never from a log. */
  listed(): void {
    this.#files.set({ list: () => this.#list() }, derivedDelayMs);
  }

  flush(): void {
    this.#files.flush();
  }

  #list(): string {
    const names = readdirSync(this.#folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== "index")
      .map((entry) => entry.name);
    return names
      .sort()
      .map((name) => `${name}\n`)
      .join("");
  }
}
