// What a JSON Schema is made of: which of its members are schemas, and which of these judge the same
// value as the schema itself ("in place") instead of a part of it.

type Members = Record<string, unknown>;

/** Members that hold a schema, or a list of schemas. */
const inPlaceWords = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];
const partWords = [
  ...["items", "prefixItems", "additionalItems", "unevaluatedItems", "contains"],
  ...["additionalProperties", "unevaluatedProperties", "propertyNames"],
];

/** Members that hold schemas by name. */
const inPlaceMaps = ["dependentSchemas", "dependencies"];
const partMaps = ["properties", "patternProperties", "$defs", "definitions"];

const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export interface Subschema {
  readonly schema: Members;
  readonly inPlace: boolean;
}

/** The schemas directly inside of this one. */
export function subschemas(schema: Members): Subschema[] {
  const found: Subschema[] = [];
  const take = (value: unknown, inPlace: boolean) => {
    const schemas = Array.isArray(value) ? value : [value];
    for (const one of schemas) if (isMembers(one)) found.push({ schema: one, inPlace });
  };
  for (const [word, value] of Object.entries(schema)) {
    if (inPlaceWords.includes(word)) take(value, true);
    else if (partWords.includes(word)) take(value, false);
    else if (!isMembers(value)) continue;
    else if (inPlaceMaps.includes(word)) take(Object.values(value), true);
    else if (partMaps.includes(word)) take(Object.values(value), false);
  }
  return found;
}

/** Every schema in `root`, itself first. */
export function everySchema(root: Members): Members[] {
  const all = new Set([root]);
  for (const schema of all) for (const { schema: inner } of subschemas(schema)) all.add(inner);
  return [...all];
}

/**
 * Whether a reference leads back to where it stands without going into the value, which no validator
 * comes to an end with. Looks at references within the document; others are no loops.
 */
export function hasEndlessReference(root: Members): boolean {
  const all = everySchema(root);
  const named = new Map<string, Members>();
  for (const schema of all) {
    for (const [word, before] of [
      ["$id", ""],
      ["$anchor", "#"],
      ["$dynamicAnchor", "#"],
    ] as const) {
      const name = schema[word];
      if (typeof name === "string") named.set(before + name, schema);
    }
  }
  const next = (schema: Members): Members[] => {
    const inner = subschemas(schema).flatMap((one) => (one.inPlace ? [one.schema] : []));
    const references = [schema["$ref"], schema["$dynamicRef"], schema["$recursiveRef"]];
    const targets = references.map((one) => resolve(root, named, one));
    return [...inner, ...targets.filter((one) => one !== undefined)];
  };
  return hasCycle(all, next);
}

function resolve(
  root: Members,
  named: ReadonlyMap<string, Members>,
  reference: unknown,
): Members | undefined {
  if (typeof reference !== "string") return undefined;
  const direct = named.get(reference);
  if (direct !== undefined) return direct;
  const [document = "", pointer = ""] = reference.split("#", 2);
  let at: unknown = document === "" ? root : (named.get(document) ?? named.get(`${document}#`));
  try {
    for (const part of pointer.split("/").slice(1)) {
      const name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
      if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return undefined;
      at = (at as Members)[name];
    }
  } catch {
    // The pointer is not well written: the validator says so.
    return undefined;
  }
  return isMembers(at) ? at : undefined;
}

/** Depth first without recursion: a chain may be as long as the schema. */
function hasCycle(all: readonly Members[], next: (schema: Members) => Members[]): boolean {
  const done = new Set<Members>();
  for (const start of all) {
    const open = new Set<Members>();
    const path = [{ schema: start, left: done.has(start) ? [] : next(start) }];
    open.add(start);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const following = top.left.pop();
      if (following === undefined) {
        open.delete(top.schema);
        done.add(top.schema);
        path.pop();
      } else if (open.has(following)) {
        return true;
      } else if (!done.has(following)) {
        open.add(following);
        path.push({ schema: following, left: next(following) });
      }
    }
  }
  return false;
}
