// The words that tsh answers itself, by their names.

/** What each takes: nothing, one name, one or more, or whatever it says itself. */
export const builtinWords: Readonly<Record<string, "none" | "one" | "some" | "free">> = {
  tools: "none",
  which: "one",
  help: "one",
  load: "some",
  unload: "some",
  pin: "some",
  unpin: "some",
  loads: "none",
  config: "free",
  exit: "free",
};

export function isBuiltinWord(name: string): boolean {
  return Object.hasOwn(builtinWords, name);
}
