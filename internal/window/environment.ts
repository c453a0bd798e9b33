// What a process is told about the window.

import { windowCharacters } from "./budget.ts";

/** Both variables in decimal when the effective window is known, and neither when it is not. */
export function windowEnvironment(tokens: number | undefined): Readonly<Record<string, string>> {
  if (tokens === undefined) return {};
  return {
    CTX_CONTEXT_WINDOW_TOKENS: String(tokens),
    CTX_CONTEXT_WINDOW_CHARS: String(windowCharacters(tokens)),
  };
}
