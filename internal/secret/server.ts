// Values that an MCP server's configuration names as `${VAR}`: `<secrets>/mcp/<server>/<VAR>`. Beside
// them stands what they were first given to, so that a server's entry cannot be changed under them.

import { join } from "node:path";
import { fail, objectName, quoted } from "../abi/mod.ts";
import {
  listOwners,
  listStored,
  readStored,
  removeStored,
  type SecretPlaces,
  writeStored,
} from "./stored.ts";

const variableGrammar = /^[A-Za-z_][A-Za-z0-9_]{0,199}$/;

export function isVariableName(text: string): boolean {
  return variableGrammar.test(text);
}

/** As `readSecret`. Throws EINVAL for what is no name of a server or a variable. */
export function readServerSecret(
  places: SecretPlaces,
  server: string,
  variable: string,
): string | undefined {
  return readStored(places, secretFile(places, server, variable));
}

/** Whoever sets a value has looked at the server: its next entry is the one that is remembered. */
export function writeServerSecret(
  places: SecretPlaces,
  server: string,
  variable: string,
  value: string,
): void {
  writeStored(places, secretFile(places, server, variable), value);
  removeStored(places, pinFile(places, server));
}

export function removeServerSecret(
  places: SecretPlaces,
  server: string,
  variable: string,
): boolean {
  return removeStored(places, secretFile(places, server, variable));
}

/** Servers that have, or had, a value, in order. */
export function listServers(places: SecretPlaces): readonly string[] {
  return listOwners(places, "mcp");
}

/** Servers whose entry is remembered, in order. */
export function listPinnedServers(places: SecretPlaces): readonly string[] {
  return listOwners(places, "mcp-entry");
}

/** Names of the variables that have a value, in order. */
export function listServerSecrets(places: SecretPlaces, server: string): readonly string[] {
  return listStored(places, secretFile(places, server, "ANY"));
}

/** The digest of the entry that was first given these secrets. */
export function readServerPin(places: SecretPlaces, server: string): string | undefined {
  return readStored(places, pinFile(places, server));
}

export function writeServerPin(places: SecretPlaces, server: string, digest: string): void {
  writeStored(places, pinFile(places, server), digest);
}

function secretFile(places: SecretPlaces, server: string, variable: string): string {
  objectName("server", server);
  if (!isVariableName(variable)) fail("EINVAL", `variable ${quoted(variable)} is not valid`);
  return join(places.secrets, "mcp", server, variable);
}

function pinFile(places: SecretPlaces, server: string): string {
  return join(places.secrets, "mcp-entry", objectName("server", server), "sha256");
}
