// Finds the command of a line and loads its file, and nothing else: the table holds loaders, so an
// unused command costs nothing at start.

import { fail } from "../../internal/abi/mod.ts";
import { isTerminal, printRaw } from "../../internal/cli/mod.ts";
import type { Command, FastCommand } from "./command.ts";
import { help } from "./help.ts";

const fastCommands: Readonly<Record<string, () => Promise<FastCommand>>> = {
  status: async () => (await import("./quick.ts")).quickCommands["status"] as FastCommand,
  ls: async () => (await import("./quick.ts")).quickCommands["ls"] as FastCommand,
  cat: async () => (await import("./quick.ts")).quickCommands["cat"] as FastCommand,
  "validate-name": async () =>
    (await import("./quick.ts")).quickCommands["validate-name"] as FastCommand,
  append: () => import("./append.ts"),
  set: () => import("./set.ts"),
};

const commands: Readonly<Record<string, () => Promise<Command>>> = {
  abi: () => import("./abi.ts"),
  bootstrap: () => import("./bootstrap.ts"),
  completion: () => import("./completion.ts"),
  doctor: () => import("./doctor.ts"),
  serve: () => import("./serve.ts"),
  tool: () => import("./tool.ts"),
  which: () => import("./which.ts"),
  "abi conformance": () => import("./abi-conformance.ts"),
  "abi export": () => import("./abi-export.ts"),
  "abi show": () => import("./abi-show.ts"),
  "abi verify": () => import("./abi-verify.ts"),
  "agent attach": () => import("./agent-attach.ts"),
  "agent cancel": () => import("./agent-cancel.ts"),
  "agent chat": () => import("./agent-chat.ts"),
  "agent history": () => import("./agent-history.ts"),
  "agent apply": () => import("./agent-apply.ts"),
  "agent check": () => import("./agent-check.ts"),
  "agent list": () => import("./agent-list.ts"),
  "agent new": () => import("./agent-new.ts"),
  "agent output": () => import("./agent-output.ts"),
  "agent ps": () => import("./agent-ps.ts"),
  "agent prompt": () => import("./agent-prompt.ts"),
  "agent resume": () => import("./agent-resume.ts"),
  "agent send": () => import("./agent-send.ts"),
  "agent start": () => import("./agent-start.ts"),
  "agent status": () => import("./agent-status.ts"),
  "agent stop": () => import("./agent-stop.ts"),
  "agent tools": () => import("./agent-tools.ts"),
  "agent watch": () => import("./agent-watch.ts"),
  "auth login": () => import("./auth-login.ts"),
  "auth logout": () => import("./auth-logout.ts"),
  "auth status": () => import("./auth-status.ts"),
  "object check": () => import("./object-check.ts"),
  "object inspect": () => import("./object-inspect.ts"),
  "object install": () => import("./object-install.ts"),
  "object residue": () => import("./object-residue.ts"),
  "object uninstall": () => import("./object-uninstall.ts"),
  "policy check": () => import("./policy-check.ts"),
  "policy explain": () => import("./policy-explain.ts"),
  "terminal attach": () => import("./terminal-attach.ts"),
  "terminal create": () => import("./terminal-create.ts"),
  "terminal export": () => import("./terminal-export.ts"),
  "terminal list": () => import("./terminal-list.ts"),
  "terminal output": () => import("./terminal-output.ts"),
  "terminal status": () => import("./terminal-status.ts"),
  "terminal watch": () => import("./terminal-watch.ts"),
};

/** Commands that stand for `agent NAME` with the default agent. */
const shortForms: readonly string[] = ["send", "chat", "resume", "history", "cancel"];

/** Names of the commands, or of those of one group. */
export function commandNames(group?: string): string[] {
  const all = [...Object.keys(fastCommands), ...Object.keys(commands), ...shortForms, "exec"];
  if (group !== undefined) {
    const inGroup = all.filter((name) => name.startsWith(`${group} `));
    return inGroup.map((name) => name.slice(group.length + 1)).sort();
  }
  return [...new Set(all.map((name) => name.split(" ", 1)[0] as string))].sort();
}

export async function run(argv: readonly string[]): Promise<number> {
  const [first, second, ...rest] = argv;
  if (first === undefined) return isTerminal(0) && isTerminal(1) ? run(["chat"]) : showHelp(2);
  if (first === "help")
    return second === undefined ? showHelp(0) : run([second, ...rest, "--help"]);
  if (first === "exec") return runObject(argv);
  if (Object.hasOwn(fastCommands, first)) {
    const command = await (fastCommands[first] as () => Promise<FastCommand>)();
    return (await import("./quick.ts")).runFast(command, argv.slice(1));
  }
  if (shortForms.includes(first)) return runShort(first, argv.slice(1));
  const group = Object.keys(commands).filter((name) => name.startsWith(`${first} `));
  const own = Object.hasOwn(commands, first);
  if (group.length > 0 && !(own && isOwnOption(second))) {
    return runInGroup(first, second, rest, group);
  }
  if (own) return runCommand(first, argv.slice(1));
  const manual = "the manual is in the tree: ctx cat shared/cortexfs-docs/README.md";
  const hint = first === "man" ? manual : "see ctx --help";
  return fail("EINVAL", `unknown command ${JSON.stringify(first)}`, { hint });
}

async function runObject(argv: readonly string[]): Promise<number> {
  const { run: runExec } = await import("./exec.ts");
  return runExec(argv, {
    commands: run,
    model: async (...call) => (await import("./exec-model.ts")).runModel(...call),
  });
}

/** A group that is a command as well takes nothing, or options, for itself; its help is the group's. */
function isOwnOption(word: string | undefined): boolean {
  return word === undefined || (word.startsWith("-") && word !== "--help" && word !== "-h");
}

function showHelp(exit: number): number {
  printRaw(help);
  return exit;
}

async function runShort(name: string, argv: readonly string[]): Promise<number> {
  const { shortForm } = await import("./short-form.ts");
  const load = commands[`agent ${name}`] as () => Promise<Command>;
  const agent = process.env["CTX_AGENT"] || "coder";
  return runLoaded(async () => {
    const command = await load();
    return { ...command, spec: shortForm(command.spec, agent) };
  }, argv);
}

function runCommand(name: string, argv: readonly string[]): Promise<number> {
  return runLoaded(commands[name] as () => Promise<Command>, argv);
}

async function runLoaded(load: () => Promise<Command>, argv: readonly string[]): Promise<number> {
  const [command, { parseArguments }] = await Promise.all([load(), import("./arguments.ts")]);
  const args = await parseArguments(command.spec, argv);
  if (typeof args !== "string") return command.run(args);
  printRaw(args);
  return 0;
}

async function runInGroup(
  group: string,
  word: string | undefined,
  rest: readonly string[],
  members: readonly string[],
): Promise<number> {
  const name = `${group} ${word}`;
  if (Object.hasOwn(commands, name)) return runCommand(name, rest);
  const known = commandNames(group).join(", ");
  if (word !== undefined && !["help", "--help", "-h"].includes(word)) {
    fail("EINVAL", `unknown command ${JSON.stringify(name)}`, { hint: `${group} has ${known}` });
  }
  const specs = await Promise.all(
    [...members]
      .sort()
      .map(async (member) => (await (commands[member] as () => Promise<Command>)()).spec),
  );
  const lines = specs.map(
    ({ name: own, words, summary }) => `  ctx ${`${own} ${words}`.trim()}\n      ${summary}`,
  );
  const [line, meaning] = specs.at(-1)?.examples[0] ?? [];
  const example = `\nctx ${group} COMMAND --help says more.\n\nExample:\n  ctx ${line}\n      ${meaning}\n`;
  printRaw(`Usage: ctx ${group} COMMAND [ARG...]\n\n${lines.join("\n")}\n${example}`);
  return word === undefined ? 2 : 0;
}
