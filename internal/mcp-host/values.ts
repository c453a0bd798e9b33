// The secrets of a server: from the store of the host, by the names that its configuration has, and from
// nowhere else. The configuration lies where the agent may write. So the entry that is given secrets
// for the first time is remembered, and another one gets none until a person has looked at it.

import { createHash } from "node:crypto";
import { fail, quoted } from "../abi/mod.ts";
import type { McpLocator } from "../control/mod.ts";
import { canonicalJson } from "../launch/mod.ts";
import type { EntryFrame } from "../mcp-wire/mod.ts";
import {
  readServerPin,
  readServerSecret,
  type SecretPlaces,
  writeServerPin,
} from "../secret/mod.ts";

/** Variables of one entry. Past it EMSGSIZE. */
const variablesMax = 256;

/**
 * The values that the entry's environment gets. Throws EINVAL for a variable that is nowhere and for a
 * secret outside of the environment, where others would see it, EACCES for an entry that is not the
 * known one.
 */
export function valuesFor(
  places: SecretPlaces,
  { config, server }: McpLocator,
  { entry, variables }: EntryFrame,
): Readonly<Record<string, string>> {
  const where = `server ${quoted(server)} of ${quoted(config)}`;
  if (variables.length > variablesMax) {
    fail("EMSGSIZE", `${where} names more than ${variablesMax} variables`);
  }
  const values: Record<string, string> = Object.create(null);
  for (const { name, field, optional } of variables) {
    if (!variableGrammar.test(name)) {
      fail("EINVAL", `${where} names ${quoted(name)} in ${field}, which is no variable`);
    }
    const value = readServerSecret(places, server, name);
    if (value !== undefined && !field.startsWith("env.")) {
      fail("EINVAL", `${where} has the secret ${name} in ${field}, where other programs see it`, {
        hint: "put it into env, from where the server reads it",
      });
    }
    if (value !== undefined) values[name] = value;
    else if (!optional) {
      fail("EINVAL", `${where} needs the variable ${name} in ${field}, which is not set`, {
        hint: `set it with ctx auth login mcp/${server}/${name}`,
      });
    }
  }
  if (Object.keys(values).length > 0) checkEntry(places, where, server, entry);
  return values;
}

const variableGrammar = /^[A-Za-z_][A-Za-z0-9_]*$/;

function checkEntry(
  places: SecretPlaces,
  where: string,
  server: string,
  entry: EntryFrame["entry"],
): void {
  const pin = createHash("sha256").update(canonicalJson(entry)).digest("hex");
  const known = readServerPin(places, server);
  if (known === undefined) writeServerPin(places, server, pin);
  else if (known !== pin) {
    fail("EACCES", `${where} is not what its secrets were first given to`, {
      hint: `look at it; to accept it, set a secret again: ctx auth login mcp/${server}/VARIABLE`,
    });
  }
}
