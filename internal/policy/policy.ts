// A policy as a set. Deciding is one look-up by subject, object and permission, however long the
// file is; the answer is the line, so that an explanation can point at it.

import {
  type AllowLine,
  type Parsed,
  type Policy,
  type PolicyObject,
  parseAllowLines,
} from "../control/mod.ts";

/** Parses a `policy` control of an agent, a tool or a model. */
export function parsePolicy(text: string): Parsed<Policy> {
  const lines = parseAllowLines(text);
  return lines.ok ? { ok: true, value: policyOf(lines.value) } : lines;
}

export function policyOf(lines: readonly AllowLine[]): Policy {
  const byKey = new Map<string, number>();
  for (const { subject, object, permission, line } of lines) {
    const key = keyOf(subject, object, permission);
    if (!byKey.has(key)) byKey.set(key, line);
  }
  return {
    lines,
    find: (subject, object, permission) => byKey.get(keyOf(subject, object, permission)),
  };
}

/** A policy that allows nothing. */
export const emptyPolicy: Policy = policyOf([]);

/** The exact line that allows it. */
export function formatAllow(subject: string, object: PolicyObject, permission: string): string {
  return `allow ${subject} ${object.class}:${object.name} ${permission}`;
}

// No part of a parsed line holds NUL, so no other triple can spell the same key.
function keyOf(subject: string, object: PolicyObject, permission: string): string {
  return `${subject}\0${object.class}:${object.name}\0${permission}`;
}
