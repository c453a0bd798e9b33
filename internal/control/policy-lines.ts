// The grammar of policy v0: `allow <subject_type> <class>:<name> <permission>`, comments and blank
// lines. What other policy languages have and this one refuses on purpose (deny, globs, variables,
// path matches) is named in the refusal, because that is what people try first.

import { isObjectName, parseModelRef, quoted } from "../abi/mod.ts";
import { typeFault } from "./identity.ts";
import { accept, type Line, parseLines, refuse } from "./text.ts";
import type { AllowLine, Parsed, PolicyClass, PolicyObject } from "./types.ts";

/** Every class of objects with every permission it knows. The table is closed. */
export const classPermissions: Readonly<Record<PolicyClass, readonly string[]>> = {
  tool: ["execute"],
  model: ["use"],
  shared: ["read", "write"],
  session: ["read", "write", "resume"],
  mount: ["read", "write"],
  agent: ["create", "start", "stop", "read", "write"],
  network: ["connect"],
};

export function isPolicyClass(text: string): text is PolicyClass {
  return Object.hasOwn(classPermissions, text);
}

/** The allow lines of a policy in order. Repeated lines are harmless and kept. */
export function parseAllowLines(text: string): Parsed<readonly AllowLine[]> {
  const lines = parseLines(text);
  if (!lines.ok) return lines;
  const allowed: AllowLine[] = [];
  for (const line of lines.value) {
    if (/^\s*(#|$)/.test(line.text)) continue;
    const parsed = parseAllowLine(line);
    if (!parsed.ok) return parsed;
    allowed.push(parsed.value);
  }
  return accept(allowed);
}

interface Field {
  readonly text: string;
  readonly column: number;
}

function parseAllowLine(line: Line): Parsed<AllowLine> {
  const fields: Field[] = [...line.text.matchAll(/[^ \t]+/g)].map((match) => ({
    text: match[0],
    column: match.index + 1,
  }));
  const [verb, subject, object, permission, extra] = fields;
  const at = (field: Field, offset: number, reason: string) =>
    refuse(line.number, field.column + offset, reason);
  if (verb === undefined || verb.text !== "allow") {
    const reason =
      verb?.text === "deny"
        ? "policy v0 has no deny, what no line allows is denied"
        : `rule ${quoted(verb?.text ?? "")} is not known, a line starts with "allow"`;
    return refuse(line.number, verb?.column ?? 1, reason);
  }
  if (subject === undefined || object === undefined || permission === undefined) {
    const missing =
      subject === undefined ? "subject" : object === undefined ? "object" : "permission";
    const end = line.text.trimEnd().length + 1;
    return refuse(
      line.number,
      end,
      `${missing} is missing: allow <type> <class>:<name> <permission>`,
    );
  }
  if (extra !== undefined) return at(extra, 0, `field ${quoted(extra.text)} is one too many`);
  const pattern = patternFault(subject.text);
  const fault = pattern ?? typeFault(subject.text);
  if (fault) return at(subject, fault.offset, `subject ${fault.reason}`);
  const named = parsePolicyObject(object.text);
  if (!named.ok) return { ...named, line: line.number, column: object.column + named.column - 1 };
  const wrong = permissionFault(named.value, permission.text);
  if (wrong !== undefined) return at(permission, 0, wrong);
  return accept({
    subject: subject.text,
    object: named.value,
    permission: permission.text,
    line: line.number,
  });
}

/** `class:name`, as policy lines and commands write it. */
export function parsePolicyObject(text: string): Parsed<PolicyObject> {
  const colon = text.indexOf(":");
  if (colon < 0) return refuse(1, 1, `object ${quoted(text)} is not class:name`);
  const kind = text.slice(0, colon);
  const name = text.slice(colon + 1);
  const pattern = patternFault(text);
  if (pattern) return refuse(1, pattern.offset + 1, `object ${pattern.reason}`);
  if (!isPolicyClass(kind)) {
    const known = Object.keys(classPermissions).join(", ");
    return refuse(1, 1, `class ${quoted(kind)} is not one of ${known}`);
  }
  const reason = nameFault(kind, name);
  return reason === undefined ? accept({ class: kind, name }) : refuse(1, colon + 2, reason);
}

/** Why the class does not know the permission, or undefined when it does. */
export function permissionFault(object: PolicyObject, permission: string): string | undefined {
  const known = classPermissions[object.class];
  if (known.includes(permission)) return undefined;
  const pattern = patternFault(permission);
  if (pattern) return `permission ${pattern.reason}`;
  const words = known.join(", ");
  return `permission ${quoted(permission)} is not one that ${object.class} knows: ${words}`;
}

function nameFault(kind: PolicyClass, name: string): string | undefined {
  if (name === "") return "object name is missing";
  if (kind === "network") {
    return name === "default" ? undefined : `network ${quoted(name)} is not "default"`;
  }
  if (kind === "model") {
    if (parseModelRef(name)) return undefined;
    return `model ${quoted(name)} is not provider/model`;
  }
  if (name.includes("/")) return `${kind} ${quoted(name)} is a path, policy v0 matches no paths`;
  if (!isObjectName(name)) return `${kind} name ${quoted(name)} is not valid`;
  if (kind === "session" && name === "index") return `session name "index" is reserved`;
  return undefined;
}

function patternFault(text: string): { offset: number; reason: string } | undefined {
  const hit = /[*?[\]{}$%]/.exec(text);
  if (hit === null) return undefined;
  const name = /[$%]/.test(hit[0]) ? "a variable" : "a glob";
  return {
    offset: hit.index,
    reason: `${quoted(text)} is ${name}, policy v0 takes names as they are`,
  };
}
