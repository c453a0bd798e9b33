// `ctx completion`: prints the completion script of a shell; the scripts ask back for names.

import { readdirSync } from "node:fs";
import { fail, isObjectName } from "../../internal/abi/mod.ts";
import { print, printRaw, viewPath } from "../../internal/cli/mod.ts";
import { terminalId, terminalSessions } from "../../internal/client/mod.ts";
import { surveySecrets } from "../../internal/secret/mod.ts";
import {
  agentNames,
  loadAgent,
  loadProviders,
  modelNames,
  type Places,
  toolNames,
} from "../../internal/tree/mod.ts";
import { targetText } from "./auth-target.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import bash from "./completion.bash" with { type: "text" };
import fish from "./completion.fish" with { type: "text" };
import zsh from "./completion.zsh" with { type: "text" };
import { type Context, openContext, placesOf } from "./context.ts";
import { commandNames } from "./dispatch.ts";

export const spec: CommandSpec = {
  name: "completion",
  words: "<shell> [words..]",
  summary: "Prints the completion script of bash, zsh or fish.",
  positionals: {
    shell: "bash, zsh or fish; names is what the scripts use",
    words:
      "For names: commands, agents, providers, secrets, tools, terminals, installed, objects CLASS, sessions AGENT, paths PREFIX, or a group",
  },
  options: {},
  json: false,
  examples: [
    ["completion bash > ~/.local/share/bash-completion/completions/ctx", "install for one user"],
    ["completion fish > ~/.config/fish/completions/ctx.fish", "the same for fish"],
  ],
};

const scripts: Readonly<Record<string, string>> = { bash, zsh, fish };

export function run(args: Arguments): number {
  const shell = args.need("shell");
  if (shell === "names") {
    for (const name of namesFor(args, args.list("words"))) print(name);
    return 0;
  }
  if (!Object.hasOwn(scripts, shell)) {
    fail("EINVAL", `no completion for shell ${JSON.stringify(shell)}`, {
      hint: "bash, zsh or fish",
    });
  }
  printRaw(scripts[shell] as string);
  return 0;
}

function namesFor(args: Arguments, [kind = "", word = ""]: readonly string[]): string[] {
  if (kind === "commands") return commandNames();
  if (/^(?:abi|agent|auth|object|policy|terminal)$/.test(kind)) return commandNames(kind);
  if (kind === "providers" || kind === "secrets") return keyNames(placesOf(args), kind);
  const context = openContext(args);
  switch (kind) {
    case "agents":
      return agentNames(context.tree);
    case "tools":
      return toolNames(context.tree, "/ctx/tool").map((name) => `tool:${name}`);
    case "terminals":
      return agentNames(context.tree).flatMap((agent) => terminals(context, agent));
    case "objects":
      return objects(context, word);
    case "installed":
      return [
        ...toolNames(context.tree, "/ctx/tool").map((name) => `tool/${name}`),
        ...agentNames(context.tree).map((name) => `agent/${name}`),
      ];
    case "sessions":
      return sessions(context, word);
    case "paths":
      return paths(context, word);
    default:
      return fail("EINVAL", `no names of kind ${JSON.stringify(kind)}`);
  }
}

/** What has a key, and of providers also those that may get one. */
function keyNames(places: Places, kind: "providers" | "secrets"): string[] {
  const stored = surveySecrets(places).stored;
  if (kind === "secrets") return [...new Set(stored.map(targetText))];
  const owners = stored.flatMap((one) => (one.kind === "provider" ? [one.owner] : []));
  return [...new Set([...loadProviders(places).map(({ name }) => name), ...owners])].sort();
}

function objects({ tree }: Context, kind: string): string[] {
  if (kind === "agent") return agentNames(tree);
  return kind === "model" ? modelNames(tree) : toolNames(tree, "/ctx/tool");
}

function sessions({ tree }: Context, agent: string): string[] {
  const { owner } = loadAgent(tree, agent);
  const folder = `${tree.source}/home/${owner}/agent/${agent}/session`;
  return readdirSync(folder).filter((name) => isObjectName(name) && name !== "index");
}

/** Names of an agent and of the terminals of its sessions. */
function terminals({ tree }: Context, agent: string): string[] {
  try {
    const { owner } = loadAgent(tree, agent);
    const sessions = terminalSessions(tree.source, agent, owner);
    return [agent, ...sessions.map((session) => terminalId({ agent, session }))];
  } catch {
    // Somebody else's home, or an agent whose definition is broken: there is nothing to offer.
    return [];
  }
}

/** What may follow a started path; a folder ends in a slash so that it can be gone on with. */
function paths({ tree }: Context, prefix: string): string[] {
  const cut = prefix.lastIndexOf("/") + 1;
  const folder = viewPath(tree.source, prefix.slice(0, cut));
  return readdirSync(folder, { withFileTypes: true })
    .map((entry) => prefix.slice(0, cut) + entry.name + (entry.isDirectory() ? "/" : ""))
    .filter((path) => path.startsWith(prefix));
}
