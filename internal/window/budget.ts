// The arithmetic of a context window. Tokens are the unit of `window` and `limit`; characters are a
// conservative estimate for budgets of a prompt, four UTF-8 bytes a token. Nothing here is derived
// into an output limit of a provider: those are settings of their own.

import { fail } from "../abi/mod.ts";

/** The bound of every budget here, a u32. Arithmetic past it stays at it. */
export const budgetMax = 4_294_967_295;

/** Characters that one token is taken for. */
const charactersPerToken = 4;

/** Tokens kept for the answer, at most. */
export const outputReserveMax = 4096;

/** Characters of skill metadata when no window is known. Past it descriptions are shortened. */
export const skillsCharactersUnknown = 8000;

/** One part in fifty, 2%, of the window's characters is for skill metadata. */
const skillsPart = 50;

function saturated(value: number): number {
  return Math.min(budgetMax, Math.max(0, value));
}

/** `CTX_CONTEXT_WINDOW_CHARS`: the whole window in characters, nothing reserved. */
export function windowCharacters(tokens: number): number {
  return saturated(tokens * charactersPerToken);
}

/** Output tokens that the host keeps free: min(4096, max(1, floor(tokens / 4))). */
export function outputReserve(tokens: number): number {
  return Math.min(outputReserveMax, Math.max(1, Math.floor(tokens / 4)));
}

/** What the JSON of a whole message array may have in bytes. 0 when nothing fits, as at 1 token. */
export function promptCharacters(tokens: number): number {
  return saturated(windowCharacters(tokens) - charactersPerToken * outputReserve(tokens));
}

/** The share of skill metadata; `tokens` undefined means that the window is not known. */
export function skillsCharacters(tokens: number | undefined): number {
  if (tokens === undefined) return skillsCharactersUnknown;
  return Math.floor(windowCharacters(tokens) / skillsPart);
}

/** What a message array is charged: the UTF-8 bytes of its JSON, exactly as it is sent. */
export function promptCharge(messages: readonly unknown[]): number {
  return new TextEncoder().encode(JSON.stringify(messages)).length;
}

/** Throws EMSGSIZE when a prompt of `charge` bytes does not fit. An unknown window fits anything. */
export function admitPrompt(tokens: number | undefined, charge: number): void {
  if (tokens === undefined) return;
  const room = promptCharacters(tokens);
  if (charge <= room) return;
  const reserve = outputReserve(tokens);
  fail(
    "EMSGSIZE",
    `prompt of ${charge} bytes does not fit the window of ${tokens} tokens: ${room} are left beside ${reserve} tokens for the answer`,
    { hint: "shorten the input, or set window to auto or to a larger number" },
  );
}
