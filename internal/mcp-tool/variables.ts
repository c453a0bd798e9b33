// `${VAR}` and `${VAR:-default}` in an entry. Where the values come from is the caller's business:
// a person's environment, or the host's secret store. A value is never looked through again.

import { fail, quoted } from "../abi/mod.ts";
import type { ServerEntry } from "./config.ts";

export interface Variable {
  readonly name: string;
  /** Where it stands, e.g. "env.TOKEN", "args[1]", "command", "cwd". */
  readonly field: string;
  readonly fallback?: string;
}

const reference = /\$\{([^}]*)\}/g;
const grammar = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/;

/** Why a template is malformed: other clients' `${env:X}` would otherwise reach the server as it is. */
export function variableFault(template: string): string | undefined {
  const left = template.replace(reference, (whole, inner: string) => {
    return grammar.test(inner) ? "" : `\0${whole}`;
  });
  const malformed = /\0(\$\{[^}]*\})/.exec(left)?.[1];
  if (malformed !== undefined) return `${quoted(malformed)} is not \${VAR} or \${VAR:-default}`;
  return left.includes("${") ? 'a "${" is not closed' : undefined;
}

/** Every use of a variable, in the order of command, args, env, cwd. */
export function variablesOf(entry: ServerEntry): readonly Variable[] {
  return fieldsOf(entry).flatMap(([field, template]) =>
    [...template.matchAll(reference)].map((match) => {
      const [, name = "", fallback] = grammar.exec(match[1] ?? "") ?? [];
      return { name, field, ...(fallback !== undefined && { fallback }) };
    }),
  );
}

function fieldsOf(entry: ServerEntry): [string, string][] {
  return [
    ["command", entry.command],
    ...entry.args.map((one, index): [string, string] => [`args[${index}]`, one]),
    ...Object.entries(entry.env).map(([name, one]): [string, string] => [`env.${name}`, one]),
    ...(entry.cwd === undefined ? [] : [["cwd", entry.cwd] as [string, string]]),
  ];
}

/**
 * The entry with every variable replaced; a default stands in for a variable that is missing or empty.
 * `where` says in a message which file and server it is. EINVAL names field and variable.
 */
export function expandEntry(
  entry: ServerEntry,
  lookup: (name: string) => string | undefined,
  where: string,
): ServerEntry {
  const expand = (field: string, template: string) =>
    template.replace(reference, (_, inner: string) => {
      const [, name = "", fallback] = grammar.exec(inner) ?? [];
      const value = lookup(name);
      if (value !== undefined && (value !== "" || fallback === undefined)) return checked(value);
      return fallback ?? missing(name, field, where);
    });
  const checked = (value: string) =>
    value.includes("\0") ? fail("EINVAL", `${where}: a value holds a NUL character`) : value;
  const command = expand("command", entry.command);
  if (command === "") fail("EINVAL", `${where}: command is empty`);
  if (command.includes("/") && !command.startsWith("/")) {
    fail("EINVAL", `${where}: command ${quoted(command)} is relative`, {
      hint: "use an absolute path or a bare name",
    });
  }
  const args = entry.args.map((one, index) => expand(`args[${index}]`, one));
  const env = Object.fromEntries(
    Object.entries(entry.env).map(([name, one]) => [name, expand(`env.${name}`, one)]),
  );
  if (entry.cwd === undefined) return { command, args, env };
  const cwd = expand("cwd", entry.cwd);
  if (cwd.startsWith("/")) return { command, args, env, cwd };
  return fail("EINVAL", `${where}: cwd ${quoted(cwd)} is not an absolute path`);
}

function missing(name: string, field: string, where: string): never {
  return fail("EINVAL", `${where}: ${field} needs the variable ${name}, which is not set`, {
    hint: `set it, or write \${${name}:-default}`,
  });
}
