// What a key or value is stored for, as a person writes it: a provider, or mcp/SERVER/VARIABLE. What is
// not understood is never repeated: it may be the key itself.

import { fail, isObjectName } from "../../internal/abi/mod.ts";
import { isVariableName, type StoredSecret } from "../../internal/secret/mod.ts";
import type { Arguments } from "./command.ts";

export const slotOption = {
  slot: { type: "string", describe: 'Which of a provider\'s keys (default: "default")' },
} as const;

/** Said of a word too many, which may be a key: then it stands in the shell's history already. */
export const surplus =
  "a key is never an argument, which others can read; change it if this was one";

const grammar = /^mcp\/([^/]+)\/([^/]+)$/;

export function targetOf(args: Arguments): StoredSecret {
  const text = args.need("target");
  const slot = args.text("slot");
  const [, server, variable] = grammar.exec(text) ?? [];
  if (server !== undefined && variable !== undefined) {
    if (!isObjectName(server) || !isVariableName(variable)) refuse();
    if (slot !== undefined)
      fail("EINVAL", "--slot is of a provider's key; a variable has one value");
    return { kind: "mcp", owner: server, name: variable };
  }
  if (!isObjectName(text)) refuse();
  if (slot !== undefined && !isObjectName(slot))
    fail("EINVAL", "the name of the slot is not valid");
  return { kind: "provider", owner: text, name: slot ?? "default" };
}

/** A provider, a server with all its variables, or one variable. */
export function statusTarget(
  text: string,
): Pick<StoredSecret, "kind" | "owner"> & { readonly name?: string } {
  const [, server = "", variable] = /^mcp\/([^/]+)(?:\/([^/]+))?$/.exec(text) ?? [];
  if (variable !== undefined && !isVariableName(variable)) refuse();
  const name = variable === undefined ? {} : { name: variable };
  if (isObjectName(server)) return { kind: "mcp", owner: server, ...name };
  return isObjectName(text) ? { kind: "provider", owner: text } : refuse();
}

function refuse(): never {
  return fail("EINVAL", "the target is no provider and not mcp/SERVER/VARIABLE", {
    hint: "write for example openai or mcp/github/TOKEN; a key itself is never an argument",
  });
}

/** As a person writes it. The slot of a provider is not part of it. */
export function targetText({ kind, owner, name }: StoredSecret): string {
  return kind === "provider" ? owner : `mcp/${owner}/${name}`;
}

/** "key of provider acme", with the slot where there is another one than usual. */
export function described({ kind, owner, name }: StoredSecret): string {
  if (kind === "mcp") return `value of variable ${name} for MCP server "${owner}"`;
  return `key of provider "${owner}"${name === "default" ? "" : ` in slot "${name}"`}`;
}

export function targetFacts({ kind, owner, name }: StoredSecret): Record<string, string> {
  return kind === "provider"
    ? { kind, provider: owner, slot: name }
    : { kind, server: owner, variable: name };
}
