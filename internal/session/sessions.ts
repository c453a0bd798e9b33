// All sessions of all agents of one tree: opened at first use, one object a session, closed when
// idle. The door that the daemon uses; authority has been decided before anything comes here.

import { randomBytes } from "node:crypto";
import { CodedError, coded, inputBytesMax, requestIdBytesMax } from "../abi/mod.ts";
import type {
  OpFrame,
  ResumeRequest,
  RunRequest,
  Scope,
  StatusRequest,
} from "../interaction/mod.ts";
import type { FileOwner } from "../os/mod.ts";
import {
  closeRoot,
  existsBeneath,
  type LockFolder,
  MemoryLog,
  type OpenOptions,
  openLockFolder,
  openRoot,
  openSessionLog,
  type Root,
  type SessionLog,
} from "../session-log/mod.ts";
import { inputDigest } from "./admission.ts";
import { AgentClaims, type Holds } from "./agent-claims.ts";
import { type Placement, placementOf } from "./placement.ts";
import { Session } from "./session.ts";
import { deriveUnopened, SessionIndex } from "./session-files.ts";
import { Shelf } from "./shelf.ts";
import type { FrameStream } from "./stream.ts";
import type { RunExecutor } from "./types.ts";

export interface SessionsOptions {
  readonly source: string;
  readonly runtime: string;
  /** Throws ENOENT for an agent that does not exist. */
  agent(name: string): { readonly owner: FileOwner };
  readonly executor: RunExecutor;
  modelName(agent: string): string;
  readonly record: "arguments" | "digest";
  readonly idleMs: number;
  /** How long a call waits for approval before it is denied, in milliseconds. */
  readonly approvalTimeoutMs: number;
  now(): Date;
  /** Asked once for an id that is new, before anything is made or recorded for it; may throw. */
  admit?(agent: string, request: RunRequest): void;
}

export interface Sessions {
  /** The frames of this input, or of these words, from `start` to `done`. The same id again tells the same again. */
  send(agent: string, request: RunRequest): Promise<FrameStream>;
  resume(agent: string, request: ResumeRequest): Promise<FrameStream>;
  status(agent: string, request: StatusRequest): Promise<OpFrame>;
  /** Answers the run's `done`, durable. ENOENT for a run that is not there or over. */
  cancel(agent: string, run: string): Promise<OpFrame[]>;
  counts(): { readonly open: number; readonly running: number; readonly queued: number };
  /** Ends what runs as interrupted and closes everything. */
  close(): Promise<void>;
}

export function createSessions(options: SessionsOptions): Sessions {
  return new Registry(options);
}

class Registry implements Sessions {
  readonly #options: SessionsOptions;
  readonly #root: Root;
  readonly #locks: LockFolder;
  readonly #sessions: Shelf<Session>;
  readonly #claims: Shelf<AgentClaims>;
  readonly #indexes = new Map<string, SessionIndex>();
  #closing: Promise<void> | undefined;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#root = openRoot(options.source);
    this.#locks = openLockFolder(options.runtime);
    this.#sessions = new Shelf(options.idleMs, (session) => canClose(session));
    this.#claims = new Shelf(options.idleMs, canCloseClaims);
  }

  async send(agent: string, request: RunRequest): Promise<FrameStream> {
    checkRequest(request);
    const { owner } = this.#options.agent(agent);
    const placement = placementOf(agent, owner.uid, request.scope, request.session);
    const digest = inputDigest(placement, request);
    const holds: Holds = (key, id) =>
      this.#sessions.peek(sessionKey(agent, owner.uid, key))?.facts.requests.has(id);
    return this.#withClaims(agent, owner, (claims) => {
      // A conflict is found before anything is made for the session.
      const admitted = claims.admit(request.id, placement.key, holds);
      if (admitted.find(request.id) === undefined) this.#options.admit?.(agent, request);
      return this.#with(placement, owner, true, (session) =>
        session.send(request, digest, admitted),
      );
    });
  }

  async resume(agent: string, request: ResumeRequest): Promise<FrameStream> {
    return this.#existing(agent, request, async (session) => session.resume(request.after));
  }

  async status(agent: string, request: StatusRequest): Promise<OpFrame> {
    return this.#existing(agent, request, async (session) => session.status(this.#options.now()));
  }

  async cancel(agent: string, run: string): Promise<OpFrame[]> {
    for (const session of this.#sessions.opened()) {
      if (session.placement.agent !== agent) continue;
      const done = session.cancel(run);
      if (done !== undefined) return [await done];
    }
    throw new CodedError("ENOENT", `agent "${agent}" has no active run ${JSON.stringify(run)}`);
  }

  counts(): { readonly open: number; readonly running: number; readonly queued: number } {
    const total = { open: 0, running: 0, queued: 0 };
    for (const session of this.#sessions.opened()) {
      const { running, queued } = session.counts();
      total.open += 1;
      total.running += running;
      total.queued += queued;
    }
    return total;
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      await this.#sessions.close();
      await this.#claims.close();
      this.#locks.close();
      closeRoot(this.#root);
    })();
    return this.#closing;
  }

  #existing<T>(
    agent: string,
    request: { readonly scope: Scope; readonly session: string },
    use: (session: Session) => Promise<T>,
  ): Promise<T> {
    const { owner } = this.#options.agent(agent);
    const placement = placementOf(agent, owner.uid, request.scope, request.session);
    return this.#with(placement, owner, false, use);
  }

  async #withClaims<T>(
    agent: string,
    owner: FileOwner,
    use: (claims: AgentClaims) => Promise<T>,
  ): Promise<T> {
    const name = `${owner.uid}/${agent}`;
    const open = () => AgentClaims.open(this.#root, this.#locks, agent, owner);
    const claims = await this.#claims.take(name, open);
    claims.pins += 1;
    try {
      return await use(claims);
    } finally {
      claims.pins -= 1;
      // A lost lock may be taken again; claims that cannot be trusted stay shut in this process.
      if (claims.failure?.code === "session_locked") this.#claims.discard(name);
      else this.#claims.settle(name);
    }
  }

  async #with<T>(
    placement: Placement,
    owner: FileOwner,
    create: boolean,
    use: (session: Session) => Promise<T>,
  ): Promise<T> {
    const key = sessionKey(placement.agent, owner.uid, placement.key);
    const session = await this.#sessions.take(key, () => this.#open(placement, owner, create, key));
    session.pins += 1;
    try {
      return await use(session);
    } finally {
      session.pins -= 1;
      this.#sessions.settle(key);
    }
  }

  async #open(
    placement: Placement,
    owner: FileOwner,
    create: boolean,
    key: string,
  ): Promise<Session> {
    const { agent, session: name, relative } = placement;
    const session = new Session({
      placement,
      executor: this.#options.executor,
      record: this.#options.record,
      approvalTimeoutMs: this.#options.approvalTimeoutMs,
      now: this.#options.now,
      index: relative === undefined ? undefined : this.#index(relative, owner),
      model: () => this.#options.modelName(agent),
      newRun: () => `ctx-${randomBytes(16).toString("hex")}`,
      settled: () => this.#sessions.settle(key),
    });
    const { now } = this.#options;
    const identity = { agent, session: name };
    const published = session.published.bind(session);
    if (relative === undefined) {
      if (!create) throw missing(name);
      await session.begin(new MemoryLog(identity, { published }, now));
      return session;
    }
    if (placement.space !== undefined && !existsBeneath(this.#root, placement.space)) {
      throw new CodedError("ENOENT", `shared space "${placement.space}" does not exist`);
    }
    const log = await this.#openLog({
      root: this.#root,
      relative,
      owner,
      identity,
      locks: this.#locks,
      create,
      now,
      published,
      visit: session.visit.bind(session),
      failed: (error) => {
        session.fail(error);
        // A lost lock may be taken again; a log that cannot be trusted stays shut in this process.
        if (error.code === "session_locked") this.#sessions.discard(key);
      },
    });
    try {
      await session.begin(log);
      return session;
    } catch (error) {
      await log.close();
      throw error;
    }
  }

  async #openLog(options: OpenOptions): Promise<SessionLog> {
    try {
      return await openSessionLog(options);
    } catch (error) {
      // Other programs see from the state alone that this session needs somebody.
      const { root, relative, owner } = options;
      if (coded(error).code === "EIO") deriveUnopened(root, relative, owner);
      throw error;
    }
  }

  #index(relative: string, owner: FileOwner): SessionIndex {
    const folder = relative.slice(0, relative.lastIndexOf("/"));
    let index = this.#indexes.get(folder);
    if (index === undefined) {
      index = new SessionIndex(this.#root, relative, owner);
      this.#indexes.set(folder, index);
    }
    return index;
  }
}

/** A temporary session lives as long as somebody reads it, a durable one as long as it works. */
function canClose(session: Session): boolean {
  if (session.failure !== undefined) return false;
  return session.placement.scope.kind === "temp" ? session.unread : session.idle;
}

function canCloseClaims(claims: AgentClaims): boolean {
  return claims.pins === 0 && claims.failure === undefined;
}

function sessionKey(agent: string, owner: number, key: string): string {
  return `${owner}/${agent}/${key}`;
}

function checkRequest(request: RunRequest): void {
  const idBytes = Buffer.byteLength(request.id);
  if (idBytes === 0 || idBytes > requestIdBytesMax || request.id.includes("\0")) {
    throw new CodedError("EINVAL", `a request id has 1 to ${requestIdBytesMax} bytes and no NUL`);
  }
  if (request.op === "tsh") return;
  const bytes = Buffer.byteLength(request.input);
  if (bytes > inputBytesMax) {
    throw new CodedError("EMSGSIZE", `an input of ${bytes} bytes exceeds ${inputBytesMax}`, {
      hint: "put long text into a file of the workspace and name it in the input",
    });
  }
}

function missing(session: string): CodedError {
  return new CodedError("ENOENT", `session "${session}" does not exist`);
}
