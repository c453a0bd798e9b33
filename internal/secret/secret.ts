// Keys of providers, one file each: `<secrets>/provider/<provider>/<slot>`.

import { join } from "node:path";
import { objectName } from "../abi/mod.ts";
import {
  listOwners,
  listStored,
  readStored,
  removeStored,
  type SecretPlaces,
  writeStored,
} from "./stored.ts";

const defaultSlot = "default";

/**
 * The secret, without one trailing newline; undefined when there is none. Throws EACCES for a wrong
 * owner or mode or a symlink anywhere below the store, EINVAL when it is empty or not text.
 */
export function readSecret(
  places: SecretPlaces,
  provider: string,
  slot = defaultSlot,
): string | undefined {
  return readStored(places, secretFile(places, provider, slot));
}

/** Stores or replaces a secret, durably. One trailing newline of `value` is not part of it. */
export function writeSecret(
  places: SecretPlaces,
  provider: string,
  value: string,
  slot = defaultSlot,
): void {
  writeStored(places, secretFile(places, provider, slot), value);
}

/** Removes a secret, durably. False when there was none. */
export function removeSecret(places: SecretPlaces, provider: string, slot = defaultSlot): boolean {
  return removeStored(places, secretFile(places, provider, slot));
}

/** Providers that have, or had, a key, in order. */
export function listProviders(places: SecretPlaces): readonly string[] {
  return listOwners(places, "provider");
}

/** Slots of the provider's keys, in order. */
export function listSecrets(places: SecretPlaces, provider: string): readonly string[] {
  return listStored(places, secretFile(places, provider, defaultSlot));
}

function secretFile(places: SecretPlaces, provider: string, slot: string): string {
  objectName("provider", provider);
  objectName("secret slot", slot);
  return join(places.secrets, "provider", provider, slot);
}
