// The door of the secret store: keys of providers and of servers, one file each.

export * from "./secret.ts";
export * from "./server.ts";
export { type SecretPlaces, secretBytesMax } from "./stored.ts";
export * from "./survey.ts";
