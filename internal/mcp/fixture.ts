// What the tests of this module stand on: a server that is open and is closed at the end.

import { CodedError } from "../abi/mod.ts";
import { openServer } from "./open.ts";
import type { OpenOptions, OpenServer } from "./types.ts";

const open = new Set<OpenServer>();

export async function openProgram(
  argv: readonly string[],
  options: Partial<OpenOptions> = {},
): Promise<OpenServer> {
  const server = await openServer({
    argv,
    env: { PATH: process.env["PATH"] ?? "" },
    cwd: "/",
    roots: [],
    signal: new AbortController().signal,
    startMs: 20_000,
    pageMs: 20_000,
    ...options,
  });
  open.add(server);
  return server;
}

export async function closeAll(): Promise<void> {
  await Promise.all([...open].map((server) => server.close()));
  open.clear();
}

/** A signal that nobody aborts. */
export const never = new AbortController().signal;

/** The code and text of what is thrown; anything but a coded error goes on. */
export async function refusal(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof CodedError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return "nothing was thrown";
}
