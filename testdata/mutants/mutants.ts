// Servers that are wrong in one way each, with the talk that must find them out. Every mistake is one
// that a careful implementer could make and a careless test would not see.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Link, Mutant } from "./proxy.ts";

const welcome = resolve(import.meta.dir, "../../abi/interaction/v2/accept/welcome.json");

type Fields = Record<string, unknown>;

/** Bytes of a v2 frame with its LF. */
const v2FrameBytesMax = 256 * 1024;

function fieldsOf(line: string): Fields {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as Fields) : {};
  } catch {
    return {};
  }
}

const text = (fields: unknown) => `${JSON.stringify(fields)}\n`;

/** What a v1 line carries. */
function carriedBy(line: string): Fields | undefined {
  const payload = fieldsOf(line)["payload"] as { value?: Fields } | undefined;
  return payload?.value;
}

const knownSendFields = new Set(["op", "id", "session", "input", "scope", "cwd", "workspace"]);
const knownOps = new Set(["send", "resume", "status", "cancel", "ping"]);

/** Sends a known request once more under another id and waits for its end; nobody sees that. */
async function runAgain(request: Fields, { another }: Link): Promise<void> {
  const client = another();
  client.send({ ...request, id: `${request["id"]}-again` });
  await client.done();
  client.end();
}

export const mutants: readonly Mutant[] = [
  {
    name: "wrong correlation: a result under the id of another call",
    abi: "op",
    golden: "tool-call",
    downward(line, { toClient }) {
      const frame = fieldsOf(line);
      toClient(frame["type"] === "tool_result" ? text({ ...frame, id: "call-1" }) : line);
    },
  },
  {
    name: "missing newline: the last line of a stream is not ended",
    abi: "op",
    golden: "send-say",
    downward(line, { toClient }) {
      toClient(fieldsOf(line)["type"] === "done" ? line.slice(0, -1) : line);
    },
  },
  {
    name: "extra event after done",
    abi: "op",
    golden: "cancel-running",
    downward(line, { toClient }) {
      const frame = fieldsOf(line);
      toClient(line);
      const { run } = frame;
      if (frame["type"] === "done") toClient(text({ type: "delta", id: "0", run, text: "late" }));
    },
  },
  {
    name: "reordered sequence: a replay tells a message before the one it follows",
    abi: "op",
    golden: "resume-all",
    upward(line, { toServer, notes }) {
      notes.set("op", String(fieldsOf(line)["op"]));
      toServer(line);
    },
    downward(line, { toClient, notes }) {
      const held = notes.get("held");
      const isMessage = fieldsOf(line)["type"] === "message";
      if (notes.get("op") !== "resume") toClient(line);
      else if (held === undefined && isMessage) notes.set("held", line);
      else {
        toClient(line);
        if (held) toClient(held);
        if (isMessage) notes.set("held", "");
      }
    },
  },
  {
    name: "wrong code: a conflict is told as a malformed request",
    abi: "op",
    golden: "conflict-input",
    downward(line, { toClient }) {
      const frame = fieldsOf(line);
      toClient(frame["code"] === "request_conflict" ? text({ ...frame, code: "EINVAL" }) : line);
    },
  },
  {
    name: "accepted unknown kind: an op that nobody knows is answered like a ping",
    abi: "op",
    golden: "op-unknown",
    upward(line, { toServer }) {
      const { op } = fieldsOf(line);
      toServer(typeof op === "string" && !knownOps.has(op) ? text({ op: "ping" }) : line);
    },
  },
  {
    name: "lost unknown-field tolerance: a send with a field of tomorrow is refused",
    abi: "op",
    golden: "send-unknown-fields",
    upward(line, { toServer }) {
      const request = fieldsOf(line);
      const strange = Object.keys(request).some((name) => !knownSendFields.has(name));
      toServer(request["op"] === "send" && strange ? text({ ...request, input: null }) : line);
    },
  },
  {
    name: "replay that executes again: the frames are the recorded ones, the work is done twice",
    abi: "op",
    golden: "same-id-replay",
    async upward(line, link) {
      const request = fieldsOf(line);
      const id = String(request["id"]);
      if (request["op"] === "send" && link.shared.has(id)) await runAgain(request, link);
      link.shared.set(id, "seen");
      link.toServer(line);
    },
  },
  {
    name: "v1 answered bare: the value without its envelope",
    abi: "v1",
    golden: "send-enveloped",
    downward(line, { toClient }) {
      const value = carriedBy(line);
      toClient(value === undefined ? line : text(value));
    },
  },
  {
    name: "257 KiB v2 frame accepted: a welcome for a frame over the bound",
    abi: "v2",
    golden: "oversized-frame",
    upward(line, { toServer, toClient }) {
      if (Buffer.byteLength(line) <= v2FrameBytesMax) toServer(line);
      else {
        const { correlation } = fieldsOf(line);
        toClient(text({ ...fieldsOf(readFileSync(welcome, "utf8")), correlation }));
      }
    },
  },
  {
    name: "wrong correlation in v1: events under the id of another request",
    abi: "v1",
    golden: "resume-all",
    downward(line, { toClient, shared }) {
      const value = carriedBy(line);
      if (value === undefined) return toClient(line);
      const id = shared.get("first") ?? String(value["request_id"]);
      shared.set("first", id);
      const frame = fieldsOf(line);
      const payload = { direction: "event", value: { ...value, request_id: id } };
      return toClient(text({ ...frame, payload }));
    },
  },
  {
    name: "started before accepted in v1",
    abi: "v1",
    golden: "send-say",
    downward(line, { toClient, notes }) {
      const type = carriedBy(line)?.["type"];
      if (type === "accepted") notes.set("accepted", line);
      else toClient(line);
      if (type === "started") toClient(notes.get("accepted") ?? "");
    },
  },
];
