// `ctx agent start`: starts the terminal of a session, which lives on by itself. The caller's folder
// becomes its /workspace; what else of the host is asked for is the server's to allow.

import { realpathSync, statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { coded, fail } from "../../internal/abi/mod.ts";
import { mountLine } from "../../internal/tree/mod.ts";
import { askOnce, linkAgent } from "./agent-link.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { sessionOf } from "./session-option.ts";
import { printStarted, shownFrame } from "./terminal-facts.ts";
import { terminalOptions } from "./terminal-word.ts";

export const startOptions = {
  ...terminalOptions,
  mount: { type: "string", describe: "SRC DST ro|rw: another folder of the host; repeatable" },
  cwd: { type: "string", describe: "Working folder in the agent's view (default: /workspace)" },
  "no-default-workspace": {
    type: "boolean",
    describe: "Do not show this folder as /workspace",
  },
} as const;

export const startMore = `This folder becomes /workspace, its .git read-only. Nothing is shown that the agent may not see: a
mount is refused where its own mount control, or your rights, do not allow it. Without a command its
tool shell runs, tsh. A session has one terminal: the one that runs is named again.
`;

export const spec: CommandSpec = {
  name: "agent start",
  words: "<agent> [command..]",
  summary: "Starts the terminal of an agent's session, to be watched and joined.",
  more: startMore,
  positionals: { agent: "Name of the agent", command: "Runs in place of the tool shell" },
  options: startOptions,
  examples: [
    ["agent start coder", "then: ctx agent attach coder"],
    ["agent start coder --session build --mount /srv/data /data ro", "one more folder, read-only"],
    ["agent start coder -- /ctx/bin/tsh tools", "another command"],
  ],
};

export function run(args: Arguments): Promise<number> {
  return startTerminal(args, args.need("agent"));
}

export async function startTerminal(args: Arguments, agent: string): Promise<number> {
  const mounts = mountsOf(args);
  const words = args.list("command");
  const context = await linkAgent(args, agent);
  const frames = await askOnce(context, {
    op: "start",
    id: `ctx-start-${crypto.randomUUID()}`,
    session: sessionOf(args, context),
    cwd: args.text("cwd"),
    mounts,
    command: words.length === 0 ? undefined : words,
  });
  const facts = frames.map((frame) => shownFrame(agent, frame)).find((one) => one !== undefined);
  if (facts === undefined) fail("EIO", `the server of agent "${agent}" named no terminal`);
  printStarted(args, facts);
  return 0;
}

/** The mount lines of the request, fields parted by TABs; the workspace first. */
function mountsOf(args: Arguments): string[] {
  const named = args.list("mount").map(mountOf);
  const bare = args.flag("no-default-workspace");
  const taken = named.some((line) => line.split("\t")[1] === "/workspace");
  if (bare || taken) return named;
  return [[here(), "/workspace", "rw"].join("\t"), ...named];
}

function here(): string {
  let path: string;
  try {
    path = process.cwd();
  } catch {
    return fail("ENOENT", "the current folder does not exist any more", {
      hint: "change to another folder, or use --no-default-workspace",
    });
  }
  return folder(path, "--no-default-workspace shows no folder");
}

function mountOf(text: string): string {
  const [source = "", target = "", access = "", options = "-", more] = mountLine(text).split("\t");
  const whole = source !== "" && isAbsolute(target) && /^r[ow]$/.test(access);
  if (!whole || options !== "-" || more !== undefined) {
    fail("EINVAL", `mount ${JSON.stringify(text)} is not SRC DST ro|rw`, {
      hint: "write for example --mount /srv/data /data ro",
    });
  }
  return [folder(resolve(source), "name a folder of the host first"), target, access].join("\t");
}

function folder(path: string, hint: string): string {
  try {
    const real = realpathSync(path);
    if (statSync(real).isDirectory()) return real;
  } catch (error) {
    const { code } = coded(error);
    fail(code, `cannot mount ${JSON.stringify(path)}: it cannot be opened`, { hint });
  }
  return fail("EINVAL", `cannot mount ${JSON.stringify(path)}: it is not a folder`, { hint });
}
