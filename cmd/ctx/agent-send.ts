// `ctx agent send`: one message, its answer streamed.

import { realpathSync, statSync } from "node:fs";
import {
  coded,
  fail,
  inputBytesMax,
  objectName,
  requestIdBytesMax,
} from "../../internal/abi/mod.ts";
import { isTerminal } from "../../internal/cli/mod.ts";
import { linkAgent } from "./agent-link.ts";
import { allowListed } from "./approval-desk.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { readInput } from "./exec-input.ts";
import { conclude, follow, printSummary } from "./follow.ts";
import { scopeOf, sessionOf, sessionOptions } from "./session-option.ts";

export const workspaceOptions = {
  workspace: { type: "string", describe: "Folder shown as /workspace (default: this folder)" },
  "no-workspace": { type: "boolean", describe: "Show no folder of the host" },
  cwd: { type: "string", describe: "Working folder in the agent's view" },
} as const;

export const spec: CommandSpec = {
  name: "agent send",
  words: "<agent> [input..]",
  summary: "Sends a message to an agent and streams its answer.",
  positionals: {
    agent: "Name of the agent",
    input: "Words of the message; - reads standard input",
  },
  options: {
    ...sessionOptions,
    ...workspaceOptions,
    id: { type: "string", describe: "Request id; the same id again replays and runs nothing" },
    approve: { type: "string", describe: "Tool to allow when it asks for approval; repeatable" },
    raw: { type: "boolean", describe: "Print the frames as they come, one JSON object a line" },
  },
  examples: [
    ['agent send coder "What is in this folder?"', "the current folder is /workspace"],
    ["agent send reviewer --session review - < patch", "the message from a file"],
    ["agent send coder --approve fs.write 'Write notes.md'", "any other call that asks is denied"],
  ],
};

export async function run(args: Arguments): Promise<number> {
  const input = messageOf(args.list("input"));
  const workspace = workspaceOf(args);
  const id = requestId(args.text("id"));
  const approve = args.list("approve").map((name) => objectName("tool", name));
  const scope = scopeOf(args);
  const cwd = args.text("cwd");
  const context = await linkAgent(args, args.need("agent"));
  const session = sessionOf(args, context);
  const request = { op: "send", id, session, scope, input, cwd, workspace } as const;
  const form = args.flag("raw") ? "raw" : args.flag("json") ? "json" : "text";
  const summary = await follow(context, request, { form, decide: allowListed(approve) });
  if (form === "json") printSummary(summary, session);
  return conclude(context, summary, session);
}

function messageOf(words: readonly string[]): string {
  const fromStdin =
    (words.length === 1 && words[0] === "-") || (words.length === 0 && !isTerminal(0));
  const text = fromStdin ? readInput(inputBytesMax) : words.join(" ");
  if (Buffer.byteLength(text) > inputBytesMax) {
    fail("EMSGSIZE", `the message is larger than ${inputBytesMax} bytes`);
  }
  if (text.trim() !== "") return text;
  return fail("EINVAL", "there is no message to send", {
    hint: "give it as words, or - to read standard input",
  });
}

function requestId(named: string | undefined): string {
  const id = named ?? `ctx-send-${crypto.randomUUID()}`;
  if (id === "" || id.includes("\0") || Buffer.byteLength(id) > requestIdBytesMax) {
    fail("EINVAL", `request id ${JSON.stringify(id)} is not valid`, {
      hint: `use 1 to ${requestIdBytesMax} bytes without NUL`,
    });
  }
  return id;
}

/** The current folder, which may have been removed while the shell stood in it. */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    return fail("ENOENT", "the current folder does not exist any more", {
      hint: "change to another folder, or name one with --workspace, or use --no-workspace",
    });
  }
}

/** The host folder that becomes /workspace: the caller's current one unless said otherwise. */
export function workspaceOf(args: Arguments): string | undefined {
  const named = args.text("workspace");
  if (args.flag("no-workspace")) {
    if (named === undefined) return undefined;
    return fail("EINVAL", "--workspace and --no-workspace exclude each other");
  }
  if (named === "") fail("EINVAL", 'cannot use workspace "": the path is empty');
  const path = named ?? currentFolder();
  try {
    const real = realpathSync(path);
    if (statSync(real).isDirectory()) return real;
  } catch (error) {
    fail(coded(error).code, `cannot use workspace ${JSON.stringify(path)}: it cannot be opened`);
  }
  return fail("EINVAL", `cannot use workspace ${JSON.stringify(path)}: it is not a folder`);
}
