// What the store holds, by name: each secret is looked at as a reader would, and what a reader would
// refuse is a finding beside the others, not instead of them. No value leaves this file.

import { type CodedError, coded } from "../abi/mod.ts";
import { listProviders, listSecrets, readSecret } from "./secret.ts";
import {
  listPinnedServers,
  listServerSecrets,
  listServers,
  readServerPin,
  readServerSecret,
} from "./server.ts";
import type { SecretPlaces } from "./stored.ts";

export interface StoredSecret {
  readonly kind: "provider" | "mcp";
  /** The provider, or the server. */
  readonly owner: string;
  /** The slot, or the variable. */
  readonly name: string;
}

export interface SecretSurvey {
  /** Those that can be used, providers first, each kind in order. */
  readonly stored: readonly StoredSecret[];
  /** What cannot: each says in its message and hint which file or folder it is and what to do. */
  readonly faults: readonly CodedError[];
}

/** Looks at the whole store, or at what belongs to one provider or server. */
export function surveySecrets(
  places: SecretPlaces,
  only?: Pick<StoredSecret, "kind" | "owner">,
): SecretSurvey {
  const stored: StoredSecret[] = [];
  const faults: CodedError[] = [];
  const owners = (kind: StoredSecret["kind"], all: () => readonly string[]) => {
    if (only === undefined) return noting(faults, all) ?? [];
    return only.kind === kind ? [only.owner] : [];
  };
  const look = (secret: StoredSecret, read: () => string | undefined) =>
    noting(faults, () => {
      if (read() !== undefined) stored.push(secret);
    });
  for (const owner of owners("provider", () => listProviders(places))) {
    for (const name of noting(faults, () => listSecrets(places, owner)) ?? []) {
      look({ kind: "provider", owner, name }, () => readSecret(places, owner, name));
    }
  }
  for (const owner of owners("mcp", () => listServers(places))) {
    for (const name of noting(faults, () => listServerSecrets(places, owner)) ?? []) {
      look({ kind: "mcp", owner, name }, () => readServerSecret(places, owner, name));
    }
  }
  // No secret, but whoever could change it could have the values given to another program.
  for (const server of owners("mcp", () => listPinnedServers(places))) {
    noting(faults, () => readServerPin(places, server));
  }
  return { stored, faults };
}

/** A store that is wrong at its top is wrong for every kind, and said once. */
function noting<T>(faults: CodedError[], work: () => T): T | undefined {
  try {
    return work();
  } catch (thrown) {
    const fault = coded(thrown);
    if (!faults.some(({ message }) => message === fault.message)) faults.push(fault);
    return undefined;
  }
}
