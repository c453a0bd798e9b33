// The door of the secret store: keys of providers, one file each.

export * from "./secret.ts";
