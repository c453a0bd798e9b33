// What a line of the log must hold to be a record: the fields that every reader relies on have their
// types, and the fields that a type of event cannot do without are there. Fields and types of events
// that this build does not know are left alone. Pure.

type Fields = Readonly<Record<string, unknown>>;

const typeOfField: Readonly<Record<string, "string" | "boolean" | "number">> = {
  ts: "string",
  type: "string",
  agent: "string",
  session: "string",
  run: "string",
  object: "string",
  status: "string",
  code: "string",
  request: "string",
  digest: "string",
  cwd: "string",
  workspace: "string",
  message: "string",
  role: "string",
  call: "string",
  args_digest: "string",
  content: "string",
  text: "string",
  expires_at: "string",
  queued: "boolean",
  truncated: "boolean",
  format: "number",
  input_tokens: "number",
  output_tokens: "number",
};

const needed: ReadonlyMap<unknown, readonly string[]> = new Map([
  ["request.accepted", ["run", "request", "digest"]],
  ["run.start", ["run"]],
  ["message", ["run", "role", "message"]],
  ["tool.call", ["run", "object", "call"]],
  ["tool.result", ["run", "object", "call", "status"]],
  ["approval.request", ["run", "object", "call", "digest", "expires_at"]],
  ["approval.result", ["run", "object", "call", "status"]],
  ["run.done", ["run", "status"]],
]);

const roles: readonly unknown[] = ["user", "assistant"];
const ends: readonly unknown[] = ["ok", "error", "cancelled", "interrupted"];

/** Why it is no event; undefined when it is one. `seq` and `format` are the reader's to judge. */
export function eventFault(event: Fields): string | undefined {
  for (const name of ["ts", "type", ...(needed.get(event["type"]) ?? [])]) {
    if (event[name] === undefined) return `the record has no ${name}`;
  }
  for (const [name, type] of Object.entries(typeOfField)) {
    const value = event[name];
    if (value !== undefined && typeof value !== type) return `${name} is not a ${type}`;
  }
  if (event["type"] === "message" && !roles.includes(event["role"])) return "role is unknown";
  if (event["type"] === "run.done" && !ends.includes(event["status"])) return "status is unknown";
  return undefined;
}

/** Why it is no message; undefined when it is one. `seq` is the reader's to judge. */
export function messageFault(message: Fields): string | undefined {
  for (const name of ["id", "ts", "run", "role"]) {
    if (typeof message[name] !== "string") return `${name} is not a string`;
  }
  if (!roles.includes(message["role"])) return "role is unknown";
  const { content, before = [] } = message;
  if (!Array.isArray(content) || !content.every(isText)) return "content is not a list of texts";
  if (!Array.isArray(before) || !before.every(isDraft)) return "before is not a list of events";
  return undefined;
}

function isText(part: unknown): boolean {
  return isFields(part) && part["type"] === "text" && typeof part["text"] === "string";
}

/** An event without what the writer adds: its number, its time, and the id of a call. */
function isDraft(event: unknown): boolean {
  return isFields(event) && eventFault({ ts: "", call: "", ...event }) === undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
