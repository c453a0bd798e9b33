// load, pin and their like change what the agent's session has loaded, which its host keeps.

import { fail } from "../../internal/abi/mod.ts";
import { terminalSocket } from "./authorize.ts";

/** The host's answer as text. Throws EACCES outside of an agent's terminal. */
export async function askWord(words: readonly string[]): Promise<string> {
  const [word] = words;
  if (terminalSocket() === undefined) {
    fail("EACCES", `cannot ${word}: this is not an agent's terminal`, {
      hint: "what is loaded belongs to a session of an agent",
    });
  }
  return fail("EHOSTDOWN", `the host of this terminal does not serve "${word}"`, {
    hint: "the agent itself loads and pins tools with its calls of tsh",
  });
}
