// Servers that are wrong in what an approval means: each lets something run, or somebody decide, that
// must not. They stand before an agent that asks.

import type { Mutant } from "./proxy.ts";

type Fields = Record<string, unknown>;

function fieldsOf(line: string): Fields {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as Fields) : {};
  } catch {
    return {};
  }
}

const text = (fields: unknown) => `${JSON.stringify(fields)}\n`;

/** The value that a v1 line carries, and the line with another one. */
function carriedBy(line: string): Fields | undefined {
  const payload = fieldsOf(line)["payload"] as { value?: Fields } | undefined;
  return payload?.value;
}

function carrying(line: string, change: Fields): string {
  const frame = fieldsOf(line);
  const payload = frame["payload"] as { value?: Fields };
  return text({ ...frame, payload: { ...payload, value: { ...payload.value, ...change } } });
}

export const approvalMutants: readonly Mutant[] = [
  {
    name: "an answer with the digest of another call is taken",
    abi: "op",
    golden: "approval-wrong-digest",
    upward(line, { toServer }) {
      const { digest: _, ...answer } = fieldsOf(line);
      toServer(answer["op"] === "approve" ? text(answer) : line);
    },
  },
  {
    name: "the request is shown to who watches",
    abi: "op",
    golden: "approval-watcher",
    downward(line, { toClient, shared }) {
      const { type } = fieldsOf(line);
      toClient(line);
      if (type === "approval_request") shared.set("asked", line);
      // The one who sent the input has had its call before anything was asked.
      if (type === "tool_call") toClient(shared.get("asked") ?? "");
    },
  },
  {
    name: "a call that is denied runs",
    abi: "op",
    golden: "approval-deny",
    upward(line, { toServer }) {
      const answer = fieldsOf(line);
      const denied = answer["op"] === "approve" && answer["decision"] === "deny";
      toServer(denied ? text({ ...answer, decision: "allow_once" }) : line);
    },
  },
  {
    name: "an allow is remembered for the next call",
    abi: "op",
    golden: "approval-next-call",
    downward(line, { toClient, toServer, shared }) {
      const { type, run, id } = fieldsOf(line);
      const asked = type === "approval_request";
      if (asked && shared.has(String(run))) {
        toServer(text({ op: "approve", run, id, decision: "allow_once" }));
      } else toClient(line);
      if (asked) shared.set(String(run), "allowed");
    },
  },
  {
    name: "a value lets a call of v1 run",
    abi: "v1",
    golden: "command-value",
    upward(line, { toServer }) {
      const value = carriedBy(line);
      const answers = value?.["type"] === "command_result";
      toServer(answers ? carrying(line, { result: { type: "accepted" } }) : line);
    },
  },
  {
    name: "a result of v1 counts whatever command it names",
    abi: "v1",
    golden: "command-wrong-id",
    upward(line, { toServer, notes }) {
      const answers = carriedBy(line)?.["type"] === "command_result";
      toServer(answers ? carrying(line, { command_id: notes.get("command") }) : line);
    },
    downward(line, { toClient, notes }) {
      const id = carriedBy(line)?.["command_id"];
      if (typeof id === "string") notes.set("command", id);
      toClient(line);
    },
  },
];
