// `ctx auth login`: stores a key of a provider, or a value that an MCP server's configuration names.

import { coded } from "../../internal/abi/mod.ts";
import { note, print, printJson } from "../../internal/cli/mod.ts";
import {
  readSecret,
  readServerPin,
  readServerSecret,
  type StoredSecret,
  writeSecret,
  writeServerSecret,
} from "../../internal/secret/mod.ts";
import { loadProviders, type Places } from "../../internal/tree/mod.ts";
import { described, slotOption, surplus, targetFacts, targetOf } from "./auth-target.ts";
import { obtainValue } from "./auth-value.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { placesOf } from "./context.ts";

/** As a shell expects it of a command that Ctrl-C ended. */
const cancelledExit = 130;

export const spec: CommandSpec = {
  name: "auth login",
  words: "<target>",
  summary: "Stores a key of a provider, or a value for an MCP server, where only you can read it.",
  more: `It is asked for at a terminal and not shown; it is read from standard input when that is something
else, or once from the environment with --from-env. It is never an argument. One line break at its
end is not part of it. Run this as the user that ctxd runs as.

The values of an MCP server are given to the configuration entry that first used them, and to no
other. Storing a value of the server accepts the entry as it is at its next use: look at a changed
entry before.
`,
  positionals: { target: "PROVIDER, or mcp/SERVER/VARIABLE for a variable in a server's entry" },
  options: {
    ...slotOption,
    "from-env": { type: "string", describe: "Name of a variable of the environment that holds it" },
  },
  surplus,
  examples: [
    ["auth login openai", "asks for the key and shows nothing"],
    ["auth login openai --slot work < key.txt", "a second key, from a file"],
    ["auth login openai --from-env OPENAI_API_KEY", "what the environment has, once"],
    ["auth login mcp/github/TOKEN", "the value of the variable TOKEN for the server github"],
  ],
};

/** 0 when it is stored, 130 when the person went away from the prompt. */
export async function run(args: Arguments): Promise<number> {
  const target = targetOf(args);
  const places = placesOf(args);
  // A store that is open to others is refused before anything is asked.
  const replaced = isStored(places, target);
  const value = await obtainValue(target, args.text("from-env"));
  if (value === undefined) return cancelledExit;
  const accepted = store(places, target, value);
  if (args.flag("json")) {
    const forServer = target.kind === "mcp" ? { accepts_changed_entry: accepted } : {};
    printJson({ ...targetFacts(target), stored: true, replaced, ...forServer });
    return 0;
  }
  print(`${replaced ? "replaced" : "stored"} the ${described(target)}, in ${places.secrets}`);
  if (accepted) {
    print(
      `the values of "${target.owner}" belonged to one entry of its configuration until now; ` +
        "they are given to the entry as it is at its next use, also when it was changed",
    );
  }
  if (target.kind === "provider") noteUnknown(places, target.owner);
  return 0;
}

/** Whether there is something, whatever it is worth. Throws EACCES for a store that is no safe place. */
function isStored(places: Places, { kind, owner, name }: StoredSecret): boolean {
  try {
    const value =
      kind === "provider" ? readSecret(places, owner, name) : readServerSecret(places, owner, name);
    return value !== undefined;
  } catch (error) {
    const { code } = coded(error);
    // One that is empty, no text or too long is in the way of nobody who brings a better one.
    if (code === "EINVAL" || code === "EMSGSIZE") return true;
    throw error;
  }
}

/** True when the entry that the values were given to is forgotten by this. */
function store(places: Places, { kind, owner, name }: StoredSecret, value: string): boolean {
  if (kind === "provider") {
    writeSecret(places, owner, value, name);
    return false;
  }
  const hadPin = readServerPin(places, owner) !== undefined;
  writeServerSecret(places, owner, name, value);
  return hadPin;
}

/** A key for nobody is most often a slip of the pen; a provider file may also come later. */
function noteUnknown(places: Places, provider: string): void {
  try {
    if (loadProviders(places).some(({ name }) => name === provider)) return;
  } catch {
    // ctx doctor says what is wrong with the files.
    return;
  }
  note(`no file in ${places.config}/providers.d is of provider "${provider}" yet`);
}
