// The request ids of one agent and owner: opened at first use, shared by all of the agent's
// sessions, closed when nobody has used them for a while.

import type { CodedError } from "../abi/mod.ts";
import type { FileOwner } from "../os/mod.ts";
import {
  type Claims,
  holdsAccepted,
  type LockFolder,
  openClaims,
  type Root,
} from "../session-log/mod.ts";
import { conflict } from "./admission.ts";
import { agentHome, relativeOfKey } from "./placement.ts";

/** Whether an open session knows a request; undefined when that session is not open. */
export type Holds = (key: string, id: string) => boolean | undefined;

export class AgentClaims {
  readonly #root: Root;
  readonly #agent: string;
  readonly #owner: FileOwner;
  readonly #claims: Claims;
  /** Requests that use the claims at this moment. */
  pins = 0;

  static async open(
    root: Root,
    locks: LockFolder,
    agent: string,
    owner: FileOwner,
  ): Promise<AgentClaims> {
    const folder = `${agentHome(agent, owner.uid)}/session/index`;
    const claims = await openClaims({ root, folder, owner, locks, agent });
    return new AgentClaims(root, agent, owner, claims);
  }

  private constructor(root: Root, agent: string, owner: FileOwner, claims: Claims) {
    this.#root = root;
    this.#agent = agent;
    this.#owner = owner;
    this.#claims = claims;
  }

  /**
   * The claims, when `id` may be used in session `key`. A claim of an earlier process for another
   * session counts only if that session's log holds its acceptance. Throws request_conflict.
   */
  admit(id: string, key: string, holds: Holds): Claims {
    const claim = this.#claims.find(id);
    if (claim === undefined || claim.key === key) return this.#claims;
    if (claim.proven || this.#stands(claim.key, id, holds)) throw conflict(id);
    return this.#claims;
  }

  /** The error after which nothing can be claimed here any more. */
  get failure(): CodedError | undefined {
    return this.#claims.failure;
  }

  /** Nothing uses them, and their file was removed or replaced: they have to be opened anew. */
  get misplaced(): boolean {
    return this.pins === 0 && !this.#claims.inPlace;
  }

  close(): Promise<void> {
    return this.#claims.close();
  }

  #stands(key: string, id: string, holds: Holds): boolean {
    const live = holds(key, id);
    if (live !== undefined) return live;
    const relative = relativeOfKey(this.#agent, this.#owner.uid, key);
    if (relative === undefined) return false;
    try {
      return holdsAccepted(this.#root, relative, id);
    } catch {
      // A log that cannot be read cannot clear the id either.
      return true;
    }
  }
}
