// The grammar of names. One path component; the same rule for agents, tools, providers, models,
// sessions, shared spaces and terminals, so that no name can be a path, an option or a dot file.

import { fail } from "./error.ts";

const nameGrammar = /^[a-zA-Z0-9][a-zA-Z0-9._+-]{0,63}$/;

/** Longest object name in bytes; the alphabet is ASCII, so bytes are characters. */
export const nameBytesMax = 64;

export function isObjectName(text: string): boolean {
  return nameGrammar.test(text) && !text.endsWith(".sock") && !text.endsWith(".d");
}

/** `kind` is the word a person reads, e.g. "agent" or "session". Throws EINVAL. */
export function objectName(kind: string, text: string): string {
  if (isObjectName(text)) return text;
  return fail("EINVAL", `${kind} name ${JSON.stringify(text)} is not valid`, {
    hint: "use 1 to 64 of A-Z a-z 0-9 . _ + -, first a letter or digit, not ending in .sock or .d",
  });
}

/** A session name; `index` is reserved for the session index folder. Throws EINVAL. */
export function sessionName(text: string): string {
  if (text === "index") {
    return fail("EINVAL", `session name "index" is reserved`, { hint: "choose another name" });
  }
  return objectName("session", text);
}

/** The controls that an agent may replace, and only its own: neither has any authority. */
export const updatableControls = ["system.md", "prompt.template.md"] as const;

export type UpdatableControl = (typeof updatableControls)[number];

export interface ModelRef {
  readonly provider: string;
  readonly model: string;
}

/** `provider/model`, two object names. Undefined when it is not that shape. */
export function parseModelRef(text: string): ModelRef | undefined {
  const parts = text.split("/");
  const [provider, model] = parts;
  if (parts.length !== 2 || provider === undefined || model === undefined) return undefined;
  return isObjectName(provider) && isObjectName(model) ? { provider, model } : undefined;
}
