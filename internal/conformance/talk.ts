// Reads a talk: a conversation with a server, one step a line, after a header line. Strict, because
// a talk that is read wrongly would let a wrong server pass: every field is known, every placeholder
// is bound before it is used, and what is wrong is named with its file and line.

import { fail } from "../abi/mod.ts";
import { placeholderOf } from "./pattern.ts";
import { readStep } from "./talk-steps.ts";

/** The protocols that are talked on a socket, by the word that `--abi` takes for their folder. */
export const talkFolders = {
  op: "op/v1",
  v1: "interaction/v1",
  v2: "interaction/v2",
  control: "control/v1",
} as const;

export type TalkAbi = keyof typeof talkFolders;

/** What a talk may need of its agent beyond the model: that the agent asks before each call. */
export const talkNeeds = ["approval"] as const;

export type TalkNeed = (typeof talkNeeds)[number];

/** Placeholders that have a value before a talk begins. */
const givenNames: Readonly<Record<TalkAbi, readonly string[]>> = {
  op: ["agent"],
  v1: ["agent"],
  v2: ["agent"],
  // A capability socket belongs to one run.
  control: ["agent", "session", "run"],
};

/** Name of the connection of a step that names none. */
const firstConnection = "a";

export interface Repeated {
  readonly before: string;
  readonly unit: string;
  readonly times: number;
  readonly after: string;
}

export type Action =
  | { readonly kind: "send"; readonly frame: unknown }
  | { readonly kind: "send_line"; readonly text: string }
  | { readonly kind: "send_bytes"; readonly bytes: Uint8Array }
  | ({ readonly kind: "send_repeat" } & Repeated)
  | { readonly kind: "expect"; readonly pattern: unknown }
  | { readonly kind: "expect_text"; readonly of: string; readonly text: string }
  | { readonly kind: "expect_close" }
  | { readonly kind: "close"; readonly how: "write" | "both" };

export interface Step {
  /** Its line in the file, from 1. */
  readonly line: number;
  /** Name of the connection. */
  readonly on: string;
  readonly action: Action;
}

export interface Talk {
  /** Path of its file, as it was given. */
  readonly file: string;
  readonly name: string;
  readonly abi: TalkAbi;
  readonly about: string;
  /** Written ahead of any server that passes it: it may fail. */
  readonly draft: boolean;
  /** It is played against an agent that has this. */
  readonly needs: TalkNeed | undefined;
  /** Kinds of frames that a server may send or not, passed over where another is expected. */
  readonly maySkip: ReadonlySet<string>;
  readonly steps: readonly Step[];
}

/** Throws EINVAL at the place that is wrong. */
export function parseTalk(file: string, text: string): Talk {
  if (!text.endsWith("\n")) wrong(file, text.split("\n").length, "the last line has no newline");
  const lines = text.slice(0, -1).split("\n");
  const [first, ...rest] = lines.map((line, index) => parseLine(file, line, index + 1));
  const header = readHeader(file, first as Fields);
  const steps = rest.map((fields, index): Step => {
    const line = index + 2;
    const { on = firstConnection, ...own } = fields;
    if (typeof on !== "string" || on === "") wrong(file, line, `"on" is not a connection's name`);
    const action = readStep(own, (reason) => wrong(file, line, reason));
    return { line, on: on as string, action };
  });
  if (!steps.some(({ action }) => action.kind.startsWith("expect"))) {
    wrong(file, lines.length, "the talk expects nothing");
  }
  checkBound(file, new Set(givenNames[header.abi]), steps);
  return { file, ...header, steps };
}

type Fields = Readonly<Record<string, unknown>>;

function wrong(file: string, line: number, reason: string): never {
  return fail("EINVAL", `${file}:${line}: ${reason}`, { place: { file, line, column: 1 } });
}

function parseLine(file: string, line: string, number: number): Fields {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return wrong(file, number, "the line is not JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return wrong(file, number, "the line is not a JSON object");
  }
  return value as Fields;
}

function readHeader(file: string, fields: Fields): Omit<Talk, "file" | "steps"> {
  const { talk, abi, about, draft = false, needs, may_skip: maySkip = [], ...more } = fields;
  const refuse = (reason: string) => wrong(file, 1, reason);
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) refuse(`the header has an unknown field ${JSON.stringify(unknown)}`);
  const short = (Object.keys(talkFolders) as TalkAbi[]).find((one) => talkFolders[one] === abi);
  if (short === undefined) return refuse(`"abi" is none of the protocols that are talked`);
  const base = file.slice(file.lastIndexOf("/") + 1).replace(/\.jsonl$/, "");
  if (talk !== `${short}/${base}`) refuse(`"talk" is not ${JSON.stringify(`${short}/${base}`)}`);
  if (typeof about !== "string" || about === "") return refuse(`"about" says nothing`);
  if (typeof draft !== "boolean") return refuse(`"draft" is not true or false`);
  if (needs !== undefined && !talkNeeds.some((one) => one === needs)) {
    return refuse(`"needs" is none of ${talkNeeds.join(", ")}`);
  }
  if (!Array.isArray(maySkip) || !maySkip.every((kind) => typeof kind === "string")) {
    return refuse(`"may_skip" is not a list of kinds`);
  }
  const need = needs as TalkNeed | undefined;
  return { name: talk as string, abi: short, about, draft, needs: need, maySkip: new Set(maySkip) };
}

/** Every placeholder that is used must have got its value before, and none gets two. */
function checkBound(file: string, bound: Set<string>, steps: readonly Step[]): void {
  for (const { line, action } of steps) {
    if (action.kind !== "send" && action.kind !== "expect") continue;
    const sends = action.kind === "send";
    for (const text of textsOf(sends ? action.frame : action.pattern)) {
      const reason = placeholderFault(text, sends, bound);
      if (reason !== undefined) wrong(file, line, reason);
    }
  }
}

function placeholderFault(text: string, sends: boolean, bound: Set<string>): string | undefined {
  const placeholder = placeholderOf(text);
  const shown = JSON.stringify(text);
  if (placeholder === undefined) return `${shown} is no placeholder; write << for a literal <`;
  if (placeholder.form === "literal") return undefined;
  if (placeholder.form === "present" || placeholder.form === "absent") {
    return sends ? `${shown} is sent` : undefined;
  }
  if (placeholder.form === "new") {
    if (!sends) return `${shown} stands in a pattern, where nothing is made`;
    if (bound.has(placeholder.name)) return `${shown} makes a value that is there already`;
    bound.add(placeholder.name);
    return undefined;
  }
  const known = bound.has(placeholder.name);
  const { form } = placeholder;
  const binds = !sends && (form === "value" || form === "number");
  if (!known && !binds) return `${shown} is used before it has a value`;
  if (sends && (form === "next" || form === "later")) return `${shown} is sent`;
  bound.add(placeholder.name);
  return undefined;
}

function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsOf);
}
