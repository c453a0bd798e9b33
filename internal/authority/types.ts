// The question that authority answers, the facts it looks at, and the verdict with its reasons.
// One pure function decides for enforcement and for `ctx policy explain` alike.

import type { Code } from "../abi/mod.ts";
import type { MountLine, Perm, Policy, PolicyObject } from "../control/mod.ts";

export interface Question {
  readonly object: PolicyObject;
  readonly permission: string;
}

/** Identity and mode bits of one file or folder. */
export interface ModeFacts {
  readonly path: string;
  readonly uid: number;
  readonly gid: number;
  readonly mode: number;
}

/** One folder of CTX_PATH and what was found there for the tool's name. */
export interface PathFacts {
  readonly folder: string;
  readonly found: "executable" | "not_executable" | "not_regular" | "absent" | "unreachable";
}

export interface ToolFacts {
  /** The search of CTX_PATH, left to right, up to and including the hit. */
  readonly search: readonly PathFacts[];
  /** View path of the hit, e.g. "/ctx/tool/fs.read"; undefined when there is none. */
  readonly path: string | undefined;
  /** The hit's folders from the top, then the executable itself; empty without a hit. */
  readonly modes: readonly ModeFacts[];
  /** The tool's own policy; undefined when the file is missing (which allows nothing). */
  readonly policy: Policy | undefined;
  readonly policyFile: string;
  /** Why the tool is unavailable: a malformed control, or a server's tool that nobody installed. */
  readonly defect: string | undefined;
}

/** A user who could have written an agent's identity, and the groups that this user is in. */
export interface Definer {
  readonly uid: number;
  readonly gids: readonly number[];
  /** The files belong to more than one user, which no identity fits. */
  readonly several: boolean;
}

export interface Facts {
  readonly agent: string;
  /** Where the agent's controls are, as a person finds them: "agent/coder.d". */
  readonly controls: string;
  readonly identity: {
    readonly uid: number;
    readonly gid: number;
    readonly groups: readonly number[];
    /** Uid of ctxd; a server that is not root can only run agents of its own uid. */
    readonly serverUid: number;
    readonly serverGid: number;
    readonly serverGroups: readonly number[];
    readonly rootAgents: boolean;
    /** The user who may write this identity; undefined when only root may. */
    readonly definer?: Definer | undefined;
  };
  readonly perm: Perm;
  readonly permText: string;
  readonly subject: string;
  readonly policy: Policy;
  /** File names as a person finds them, e.g. "agent/coder.d/policy". */
  readonly policyFile: string;
  readonly permFile: string;
  readonly labelFile: string;
  readonly mounts: readonly MountLine[];
  /** Present when the question is about a tool. */
  readonly tool: ToolFacts | undefined;
  /** A model's own policy, when the question is about a model that has one. */
  readonly modelPolicy: { readonly file: string; readonly policy: Policy } | undefined;
  /** False when the object of the question does not exist in the tree. */
  readonly exists: boolean;
}

export type Layer =
  | "path"
  | "identity"
  | "mode"
  | "mount"
  | "perm"
  | "label"
  | "agent_policy"
  | "object_policy";

export interface LayerVerdict {
  readonly layer: Layer;
  readonly allowed: boolean;
  /** Prose for a person, e.g. `perm is r-x, fs.write needs w`. */
  readonly because: string;
  /** `file:line` that decided, when a file did. */
  readonly at: string | undefined;
  /** The exact line that would allow it, and the file it belongs in, when one would. */
  readonly fix: { readonly file: string; readonly line: string } | undefined;
}

export interface Verdict {
  readonly allowed: boolean;
  readonly code: Code | undefined;
  /** Every layer in decision order; layers after the first refusal are evaluated too. */
  readonly layers: readonly LayerVerdict[];
}
