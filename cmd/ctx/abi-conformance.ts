// `ctx abi conformance`: plays the talks of a protocol against a server and says where they differ.

import { statSync } from "node:fs";
import { basename } from "node:path";
import { fail } from "../../internal/abi/mod.ts";
import { printJson, printRaw } from "../../internal/cli/mod.ts";
import {
  abiFiles,
  frameFault,
  jsonOutcome,
  type Outcome,
  playTalk,
  selectTalks,
  stepMsDefault,
  summaryOf,
  type TalkAbi,
  TalkConnection,
  talkFolders,
  tapEnd,
  tapPlan,
  tapPoint,
} from "../../internal/conformance/mod.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { becomeOwner, callerUid } from "./context.ts";

export const spec: CommandSpec = {
  name: "abi conformance",
  words: "",
  summary:
    "Plays whole conversations against a server and reports in TAP what differs. The agent behind " +
    "the socket must run the model debug/script: ctx set agent/NAME.d/model debug/script. Every " +
    "conversation makes sessions of its own, named talk-…",
  positionals: {},
  options: {
    socket: { type: "string", describe: "The server's Unix socket" },
    abi: { type: "string", describe: "op, v1, v2 or control" },
    agent: { type: "string", describe: "The agent's name (default: the socket's)" },
    only: { type: "string", describe: "Play this talk alone, for example send-say" },
    timeout: { type: "string", describe: `Milliseconds a step may take (${stepMsDefault})` },
    tap: { type: "boolean", describe: "Report in TAP 14, which is the default" },
  },
  examples: [
    ["abi conformance --socket $CTX_SOURCE/agent/coder.sock --abi op", "every op talk"],
    ["abi conformance --socket ./agent.sock --abi v1 --only send-say", "one of v1, any server"],
  ],
};

/** 0 when every talk went as written, 1 otherwise; talks marked draft do not count. */
export async function run(args: Arguments): Promise<number> {
  const json = args.flag("json");
  if (json && args.flag("tap")) fail("EINVAL", "--tap and --json are two forms of one report");
  const socket = args.text("socket") ?? fail("EINVAL", "the socket is missing", { hint: usage });
  const talks = selectTalks(abiFiles(), abiOf(args.text("abi")), args.text("only"));
  const stepMs = args.whole("timeout", 1) ?? stepMsDefault;
  const agent = args.text("agent") ?? basename(socket).replace(/\.sock$/, "");
  becomeSocketOwner(socket);
  // Who cannot be reached at all is one error and not a list of failed talks.
  const connect = () => TalkConnection.open(socket);
  (await connect()).destroy();
  if (!json) printRaw(tapPlan(talks.length));
  const outcomes: Outcome[] = [];
  for (const talk of talks) {
    const outcome = await playTalk(talk, { connect, agent, stepMs, faultOf: frameFault });
    outcomes.push(outcome);
    if (json) printJson(jsonOutcome(outcome));
    else printRaw(tapPoint(outcomes.length, outcome));
  }
  const summary = summaryOf(outcomes);
  if (json) printJson({ ...summary });
  else printRaw(tapEnd(summary));
  return summary.failed === 0 ? 0 : 1;
}

const usage = "write ctx abi conformance --socket PATH --abi op|v1|v2|control";

function abiOf(name: string | undefined): TalkAbi {
  if (name === undefined) return fail("EINVAL", "the abi is missing", { hint: usage });
  if (Object.hasOwn(talkFolders, name)) return name as TalkAbi;
  return fail("EINVAL", `no talks for abi ${JSON.stringify(name)}`, { hint: usage });
}

/** An agent's socket takes requests of its owner alone, so root plays as that owner. */
function becomeSocketOwner(socket: string): void {
  if (callerUid() !== 0) return;
  // A socket that is not there is told by the connection, with what can be done.
  const facts = statSync(socket, { throwIfNoEntry: false });
  if (facts !== undefined) becomeOwner(facts.uid, facts.gid);
}
