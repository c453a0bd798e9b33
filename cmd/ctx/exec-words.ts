// Words of a command line as the members of an input object: `--name value`, `--name=value`, and a
// bare `--name` for a switch. What type a value has is said by the tool's schema.

import { fail } from "../../internal/abi/mod.ts";

/** The properties of an input schema, as far as they are looked at. */
export type Properties = Readonly<Record<string, { readonly type?: unknown }>>;

/** Throws EINVAL for a name that the schema does not have, and for a value of another type. */
export function namedWords(
  tool: string,
  words: readonly string[],
  properties: Properties,
): Record<string, unknown> {
  const input: Record<string, unknown> = Object.create(null);
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const match = /^--([^=]+)(?:=(.*))?$/s.exec(word);
    const name = match?.[1];
    if (name === undefined || !Object.hasOwn(properties, name)) unknown(tool, word, properties);
    if (Object.hasOwn(input, name)) fail("EINVAL", `${tool} was given --${name} twice`);
    const { type } = properties[name] as { type?: unknown };
    const said = match?.[2];
    if (type === "boolean" && said === undefined) {
      input[name] = true;
      continue;
    }
    const value = said ?? rest.shift();
    if (value === undefined) fail("EINVAL", `${tool} needs a value after --${name}`);
    input[name] = typedValue(tool, name, type, value);
  }
  return input;
}

function unknown(tool: string, word: string, properties: Properties): never {
  const names = Object.keys(properties).map((name) => `--${name}`);
  const hint =
    names.length === 0 ? "it takes none" : `it takes ${names.join(" ")}, or one JSON object`;
  return fail("EINVAL", `${tool} does not take ${JSON.stringify(word)}`, { hint });
}

/** Text stays text unless the schema says that it is something else. */
function typedValue(tool: string, name: string, type: unknown, text: string): unknown {
  if (type === "string" || type === undefined) return text;
  if (Array.isArray(type) && type.includes("string")) return text;
  try {
    return JSON.parse(text);
  } catch {
    const wanted = typeof type === "string" ? type : "JSON";
    return fail("EINVAL", `${tool} needs ${wanted} for --${name}, not ${JSON.stringify(text)}`);
  }
}
