// What the control files of an agent, a tool and a model mean once they are read. Values here are
// valid by construction: only the parsers of this module make them.

import type { Code, ModelRef } from "../abi/mod.ts";

/** A parser's answer: a value, or where and why the text is wrong. Line and column count from 1. */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      readonly code: Code;
      readonly line: number;
      readonly column: number;
      readonly reason: string;
    };

/** Letters of the `perm` control: the ceiling of what an agent may do with built-in tools. */
export interface Perm {
  readonly read: boolean;
  readonly write: boolean;
  readonly execute: boolean;
}

export interface MountLine {
  readonly source: string;
  readonly target: string;
  readonly access: "ro" | "rw";
  readonly recursive: boolean;
  readonly nosuid: boolean;
  readonly nodev: boolean;
  readonly noexec: boolean;
  /** Line of the file, for messages and explanations. */
  readonly line: number;
}

/** The `model` control: candidates in order; an alias is one name, resolved when it is used. */
export type ModelChoice =
  | { readonly kind: "ref"; readonly ref: ModelRef }
  | { readonly kind: "alias"; readonly name: string };

export interface AllowLine {
  readonly subject: string;
  readonly object: PolicyObject;
  readonly permission: string;
  readonly line: number;
}

export interface PolicyObject {
  readonly class: PolicyClass;
  readonly name: string;
}

export type PolicyClass = "tool" | "model" | "shared" | "session" | "mount" | "agent" | "network";

/** A parsed policy file; `find` is one set look-up and answers with the line that allows. */
export interface Policy {
  readonly lines: readonly AllowLine[];
  find(subject: string, object: PolicyObject, permission: string): number | undefined;
}

export interface AgentControls {
  readonly owner: number;
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
  readonly perm: Perm;
  readonly label: { readonly text: string; readonly type: string };
  readonly iso: "shared" | "uid" | "userns";
  readonly parent: string | undefined;
  readonly life: "owned" | "temp";
  readonly root: string;
  readonly cwd: string;
  readonly env: ReadonlyMap<string, string>;
  readonly path: readonly string[];
  readonly mount: readonly MountLine[];
  readonly model: readonly ModelChoice[];
  readonly window: "auto" | number;
  readonly policy: Policy;
  /** Direct-native tools beside `tsh`; empty when the control is absent. */
  readonly tools: readonly string[];
  readonly abi: "sdk-envelope-v1";
  readonly approval: "auto" | "ask";
}
