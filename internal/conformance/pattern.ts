// Placeholders of talks: what a sent frame is filled with and what a received one is matched against.
// Pure. A match never changes the bindings it was given; it gives back those that hold after it.

/** What the placeholders of one talk stand for, by name; counters under `name#`. */
export type Bindings = ReadonlyMap<string, string | number>;

export type Placeholder =
  | { readonly form: "new"; readonly name: string }
  | { readonly form: "value"; readonly name: string }
  | { readonly form: "number" | "next" | "later"; readonly name: string }
  | { readonly form: "present" }
  | { readonly form: "absent" }
  | { readonly form: "literal"; readonly text: string };

export interface Mismatch {
  /** JSON Pointer (RFC 6901) into the received frame. */
  readonly path: string;
  readonly reason: string;
}

export type Matched =
  | { readonly ok: true; readonly bindings: Bindings }
  | ({ readonly ok: false } & Mismatch);

const named = /^<(new:)?([a-z][a-z0-9_-]*)(#(?:\+1?)?)?>$/;

/** What a string of a talk means; undefined when it starts like a placeholder and is none. */
export function placeholderOf(text: string): Placeholder | undefined {
  if (!text.startsWith("<")) return { form: "literal", text };
  if (text.startsWith("<<")) return { form: "literal", text: text.slice(1) };
  if (text === "<*>") return { form: "present" };
  if (text === "<->") return { form: "absent" };
  const [, fresh, name, counter] = named.exec(text) ?? [];
  if (name === undefined) return undefined;
  if (fresh !== undefined) return counter === undefined ? { form: "new", name } : undefined;
  if (counter === undefined) return { form: "value", name };
  const form = counter === "#" ? "number" : counter === "#+1" ? "next" : "later";
  return { form, name: `${name}#` };
}

/** A frame to send with its placeholders filled; an unbound name is a bug of the parser. */
export function substitute(
  value: unknown,
  bindings: Bindings,
  fresh: () => string,
): { readonly value: unknown; readonly bindings: Bindings } {
  const bound = new Map(bindings);
  const fill = (one: unknown): unknown => {
    if (typeof one === "string") return fillText(one, bound, fresh);
    if (Array.isArray(one)) return one.map(fill);
    if (typeof one !== "object" || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([key, field]) => [key, fill(field)]));
  };
  return { value: fill(value), bindings: bound };
}

function fillText(
  text: string,
  bound: Map<string, string | number>,
  fresh: () => string,
): string | number {
  const placeholder = placeholderOf(text);
  if (placeholder?.form === "literal") return placeholder.text;
  if (placeholder?.form === "new") bound.set(placeholder.name, fresh());
  const value = placeholder && "name" in placeholder ? bound.get(placeholder.name) : undefined;
  if (value === undefined) throw new Error(`placeholder ${JSON.stringify(text)} has no value`);
  return value;
}

/** Listed fields of an object must match and more may be there; arrays must match as a whole. */
export function match(pattern: unknown, value: unknown, bindings: Bindings): Matched {
  const bound = new Map(bindings);
  const mismatch = compare(pattern, value, "", bound);
  return mismatch === undefined ? { ok: true, bindings: bound } : { ok: false, ...mismatch };
}

type Bound = Map<string, string | number>;

function compare(
  pattern: unknown,
  value: unknown,
  path: string,
  bound: Bound,
): Mismatch | undefined {
  if (typeof pattern === "string") return compareText(pattern, value, path, bound);
  if (Array.isArray(pattern)) return compareArray(pattern, value, path, bound);
  if (typeof pattern !== "object" || pattern === null) {
    return Object.is(pattern, value) ? undefined : differs(path, show(pattern), value);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return differs(path, "an object", value);
  }
  for (const [key, field] of Object.entries(pattern)) {
    const place = `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const there = Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
    const mismatch = compare(field, there, place, bound);
    if (mismatch !== undefined) return mismatch;
  }
  return undefined;
}

function compareArray(
  pattern: readonly unknown[],
  value: unknown,
  path: string,
  bound: Bound,
): Mismatch | undefined {
  if (!Array.isArray(value)) return differs(path, "an array", value);
  if (value.length !== pattern.length) {
    const reason = `${pattern.length} items were expected, ${value.length} came`;
    return { path, reason };
  }
  for (const [index, one] of pattern.entries()) {
    const mismatch = compare(one, value[index], `${path}/${index}`, bound);
    if (mismatch !== undefined) return mismatch;
  }
  return undefined;
}

function compareText(
  text: string,
  value: unknown,
  path: string,
  bound: Bound,
): Mismatch | undefined {
  const placeholder = placeholderOf(text) ?? { form: "literal", text };
  switch (placeholder.form) {
    case "literal":
      return value === placeholder.text ? undefined : differs(path, show(placeholder.text), value);
    case "present":
      return value === undefined ? differs(path, "anything", value) : undefined;
    case "absent":
      return value === undefined ? undefined : differs(path, "nothing", value);
    case "new":
    case "value":
      return compareName(placeholder.name, value, path, bound);
    default:
      return compareNumber(placeholder.form, placeholder.name, value, path, bound);
  }
}

function compareName(
  name: string,
  value: unknown,
  path: string,
  bound: Bound,
): Mismatch | undefined {
  const known = bound.get(name);
  if (known !== undefined) {
    return value === known ? undefined : differs(path, `<${name}>, which is ${show(known)}`, value);
  }
  if (typeof value !== "string" || value === "") return differs(path, "a non-empty string", value);
  bound.set(name, value);
  return undefined;
}

function compareNumber(
  form: "number" | "next" | "later",
  name: string,
  value: unknown,
  path: string,
  bound: Bound,
): Mismatch | undefined {
  const known = bound.get(name);
  if (!Number.isSafeInteger(value) || (value as number) < 1) {
    return differs(path, "a positive whole number", value);
  }
  const number = value as number;
  if (typeof known === "number") {
    const fits =
      form === "number"
        ? number === known
        : form === "next"
          ? number === known + 1
          : number > known;
    const wanted =
      form === "number" ? `${known}` : form === "next" ? `${known + 1}` : `more than ${known}`;
    if (!fits) return differs(path, `${wanted} for <${name}>`, value);
  }
  bound.set(name, number);
  return undefined;
}

function differs(path: string, wanted: string, value: unknown): Mismatch {
  return { path, reason: `${wanted} was expected, ${show(value)} came` };
}

/** Characters of a value in a reason; the whole frame stands beside it in a report. */
const shownCharsMax = 200;

function show(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length > shownCharsMax ? `${text.slice(0, shownCharsMax)}…` : text;
}
