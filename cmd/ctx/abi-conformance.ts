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
  skippedTalk,
  stepMsDefault,
  summaryOf,
  type Talk,
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
  summary: "Plays whole conversations against a server and reports in TAP what differs.",
  more: `The agent behind the socket must run debug/script: ctx set agent/NAME.d/model debug/script.
Conversations about approvals are skipped without --asking-socket. Every conversation makes
sessions of its own, named talk-…, and one of them is the agent's current one afterwards; so take
an agent that is there for this alone.
`,
  positionals: {},
  options: {
    socket: { type: "string", describe: "The server's Unix socket" },
    abi: { type: "string", describe: "op, v1, v2 or control" },
    agent: { type: "string", describe: "The agent's name (default: the socket's)" },
    "asking-socket": { type: "string", describe: "The same of an agent whose approval is ask" },
    "asking-agent": { type: "string", describe: "That agent's name (default: the socket's)" },
    only: { type: "string", describe: "Play this talk alone, for example send-say" },
    timeout: { type: "string", describe: `Milliseconds a step may take (${stepMsDefault})` },
    tap: { type: "boolean", describe: "Report in TAP 14, which is the default" },
  },
  examples: [
    ['abi conformance --socket "$(ctx which agent coder).sock" --abi op', "every op talk"],
    ["abi conformance --socket ./agent.sock --abi v1 --only send-say", "one of v1, any server"],
    [
      "abi conformance --socket ./a.sock --asking-socket ./b.sock --abi op",
      "also approvals, against agent b, whose approval is ask",
    ],
    [
      "abi conformance --socket /run/cortexfs/control.sock --abi control",
      "the socket of a run, inside its sandbox",
    ],
  ],
};

/** 0 when every talk went as written, 1 otherwise; talks marked draft do not count. */
export async function run(args: Arguments): Promise<number> {
  const json = args.flag("json");
  if (json && args.flag("tap")) fail("EINVAL", "--tap and --json are two forms of one report");
  const socket = args.text("socket") ?? fail("EINVAL", "the socket is missing", { hint: usage });
  const abi = abiOf(args.text("abi"));
  const talks = selectTalks(abiFiles(), abi, args.text("only"));
  const peers = await peersOf(args, socket, abi);
  if (talks.every((talk) => peerOf(talk, peers) === undefined)) {
    fail("EINVAL", `the talk ${skipReason}`, { hint: "it names the socket of such an agent" });
  }
  const stepMs = args.whole("timeout", 1) ?? stepMsDefault;
  if (!json) printRaw(tapPlan(talks.length));
  const outcomes: Outcome[] = [];
  for (const talk of talks) {
    const peer = peerOf(talk, peers);
    const outcome =
      peer === undefined
        ? skippedTalk(talk, skipReason)
        : await playTalk(talk, { ...peer, stepMs, faultOf: frameFault });
    outcomes.push(outcome);
    if (json) printJson(jsonOutcome(outcome));
    else printRaw(tapPoint(outcomes.length, outcome));
  }
  const summary = summaryOf(outcomes);
  if (json) printJson({ ...summary });
  else printRaw(tapEnd(summary));
  return summary.failed === 0 ? 0 : 1;
}

const skipReason = "needs an agent that asks: --asking-socket";

/** Whom talks are played against. */
interface Peer {
  readonly connect: () => Promise<TalkConnection>;
  readonly given: Readonly<Record<string, string>>;
}

interface Peers {
  readonly plain: Peer;
  readonly asking: Peer | undefined;
}

function peerOf({ needs }: Talk, { plain, asking }: Peers): Peer | undefined {
  return needs === "approval" ? asking : plain;
}

async function peersOf(args: Arguments, socket: string, abi: TalkAbi): Promise<Peers> {
  const asking = args.text("asking-socket");
  if (asking === undefined && args.text("asking-agent") !== undefined) {
    fail("EINVAL", "--asking-agent names the agent of --asking-socket, which is missing");
  }
  becomeSocketOwner(socket);
  return {
    plain: await peerAt(socket, givenTo(abi, args.text("agent") ?? agentOf(socket))),
    asking:
      asking === undefined
        ? undefined
        : await peerAt(asking, { agent: args.text("asking-agent") ?? agentOf(asking) }),
  };
}

/** Who cannot be reached at all is one error and not a list of failed talks. */
async function peerAt(socket: string, given: Peer["given"]): Promise<Peer> {
  const connect = () => TalkConnection.open(socket);
  (await connect()).destroy();
  return { connect, given };
}

function agentOf(socket: string): string {
  return basename(socket).replace(/\.sock$/, "");
}

/** A capability socket is served to the programs of its run, which know by these whose they are. */
function givenTo(abi: TalkAbi, agent: string): Peer["given"] {
  if (abi !== "control") return { agent };
  const given = { agent: "CTX_AGENT", session: "CTX_SESSION", run: "CTX_RUN_ID" } as const;
  return Object.fromEntries(
    Object.entries(given).map(([name, variable]) => {
      const value = process.env[variable] ?? "";
      if (value !== "") return [name, value];
      return fail("EINVAL", `${variable} is not set`, {
        hint: "the socket is a run's own; start this inside that run's sandbox, by its shell.exec",
      });
    }),
  );
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
