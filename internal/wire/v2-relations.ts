// What fields of one v2 frame must be to each other: durable with its sequence, mode with capabilities,
// scope with its space. schema.json says the same, so each refusal here is one of the shape.

import { correlationNames, type KindFacts, type WireFrame } from "./v2-kinds.ts";
import { type Refusal, refuse } from "./v2-refusal.ts";

type Data = Readonly<Record<string, unknown>>;

export function relations(frame: WireFrame, facts: KindFacts): Refusal | undefined {
  return (
    durability(frame, facts) ??
    prefix(frame, facts) ??
    attachment(frame, facts) ??
    dataRelations(frame, facts.data)
  );
}

function durability(frame: WireFrame, facts: KindFacts): Refusal | undefined {
  const { durable } = frame.event;
  const expected = facts.durable !== "ack" && frame.session_seq !== null;
  if (durable === expected) {
    if (!durable || facts.ids >= 0 || frame.correlation.attachment_id !== null) return undefined;
    return refuse("schema", "/correlation/attachment_id", "must be set in a durable error");
  }
  if (facts.durable === "ack") return refuse("schema", "/event/durable", "must be false in an ack");
  // Where a kind leaves it open, the frame's own word says which of the two is wrong.
  if (facts.durable === "may") {
    return refuse("schema", "/session_seq", durable ? "is missing" : "must be null");
  }
  return refuse("schema", "/event/durable", `must be ${expected} in a frame of this kind`);
}

/** An error has the longest prefix of the ids that is known, never one without those before it. */
function prefix(frame: WireFrame, facts: KindFacts): Refusal | undefined {
  if (facts.ids >= 0) return undefined;
  const hole = correlationNames.findIndex((name) => frame.correlation[name] === null);
  const beyond = correlationNames.findLastIndex((name) => frame.correlation[name] !== null);
  if (hole < 0 || beyond < hole) return undefined;
  return refuse(
    "schema",
    `/correlation/${correlationNames[hole]}`,
    `must be set before "${correlationNames[beyond]}"`,
  );
}

const acting = ["input", "cancel", "command_result", "invoke"];

function attachment(frame: WireFrame, facts: KindFacts): Refusal | undefined {
  if (facts.declares !== "attachment") return undefined;
  const { capabilities, mode } = frame.event;
  const needed = mode === "observe" ? "observe" : "input";
  if (!capabilities.includes(needed)) {
    return refuse("schema", "/event/capabilities", `lacks "${needed}" for mode "${mode}"`);
  }
  const extra = capabilities.find((word) => mode === "observe" && acting.includes(word));
  if (extra !== undefined) {
    return refuse("schema", "/event/capabilities", `has "${extra}", which mode "observe" lacks`);
  }
  const { scope, shared } = frame.event.data as Data;
  if ((scope === "shared") === (shared !== undefined)) return undefined;
  const why = scope === "shared" ? "is missing" : `needs scope "shared"`;
  return refuse("schema", "/event/data/shared", why);
}

function dataRelations(frame: WireFrame, name: string): Refusal | undefined {
  const data = frame.event.data as Data;
  if (name === "command") {
    const invokes = (data["command"] as Data)["type"] === "invoke";
    if (invokes && data["effect_id"] === undefined) {
      return refuse("schema", "/event/data/effect_id", "is missing: an invoke has an effect");
    }
  }
  return name === "event" ? eventRelations(frame, data) : undefined;
}

const liveTypes = ["delta", "reasoning_delta", "tool_delta"];

function eventRelations(frame: WireFrame, data: Data): Refusal | undefined {
  const type = String(data["type"]);
  if (frame.event.durable === liveTypes.includes(type)) {
    const expected = !frame.event.durable;
    return refuse("schema", "/event/durable", `must be ${expected} in a "${type}" event`);
  }
  if (type !== "tool_call") return undefined;
  const given = ["args", "args_digest", "content_ref"].filter((key) => data[key] !== undefined);
  if (given.length === 1) return undefined;
  return refuse("schema", "/event/data", "has not exactly one of args, args_digest, content_ref");
}
