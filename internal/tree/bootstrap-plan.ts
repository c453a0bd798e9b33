// What a bootstrapped tree holds, as a list of entries in the order they are made: folders before
// what is in them, controls before the executable that makes an object appear. Pure data; nothing
// here looks at a disk.

import type { FileOwner } from "../os/mod.ts";
import { treeVersion } from "./bootstrap-record.ts";
import { type BuiltinAgent, builtinAgents, debugModels, promptTemplate } from "./builtin-agents.ts";
import type { BuiltinTool } from "./builtin-tool.ts";
import { toolsOnHost } from "./builtin-tools.ts";
import { manualFiles } from "./manual.ts";
import { objectFile } from "./object-file.ts";
import { programNames } from "./programs.ts";

export type Entry =
  | { readonly kind: "folder"; readonly path: string; readonly mode: number; readonly owner: Who }
  /** A control that people may edit: made, updated while untouched, kept once edited. */
  | {
      readonly kind: "managed";
      readonly path: string;
      readonly text: string;
      readonly mode: number;
      readonly owner: Who;
    }
  /** Ours alone: whatever else is there is replaced. */
  | {
      readonly kind: "generated";
      readonly path: string;
      readonly text: string;
      readonly owner: Who;
    }
  /** Written by the runtime from here on: made once, never looked into. */
  | { readonly kind: "runtime"; readonly path: string; readonly text: string; readonly owner: Who }
  /** A symlink, made once: a person points it elsewhere. */
  | { readonly kind: "alias"; readonly path: string; readonly target: string }
  | { readonly kind: "program"; readonly path: string; readonly name: string };

/** Entries that are files with a text of ours. */
export type TextEntry = Extract<Entry, { readonly text: string }>;

/** The agents' owner, or whoever runs bootstrap and keeps what all agents share. */
type Who = "owner" | "keeper";

export interface PlanInput {
  readonly source: string;
  readonly owner: FileOwner;
  readonly groups: readonly number[];
  /** Programs of the host that are tools by their own names. */
  readonly programs: readonly string[];
}

export const rootEntries = ["status", "bin", "model", "agent", "tool", "home", "shared"] as const;

export function planTree(input: PlanInput): Entry[] {
  return [
    folder("bin"),
    ...programNames.map((name): Entry => ({ kind: "program", path: `bin/${name}`, name })),
    generated("status", `tree_version=${treeVersion}\n`),
    ...models(input),
    folder("tool"),
    ...toolsOnHost(input.programs).flatMap((tool) => toolEntries(input, tool)),
    ...home(input),
    folder("agent", "owner"),
    ...builtinAgents.flatMap((agent) => agentEntries(input, agent)),
    folder("shared"),
    folder("shared/cortexfs-docs"),
    folder("shared/cortexfs-docs/man"),
    ...manualFiles.map(({ name, text }) => generated(`shared/cortexfs-docs/${name}`, text)),
  ];
}

function models({ source }: PlanInput): Entry[] {
  const objects = debugModels.flatMap(({ name, description, cap }): Entry[] => {
    const object = `model/debug/${name}`;
    const control = (file: string, text: string) => managed(`${object}.d/${file}`, text);
    return [
      folder(`${object}.d`),
      folder(`${object}.d/session`),
      control("id", `${name}\n`),
      control("driver", `debug.${name}\n`),
      control("cap", lines(cap)),
      control("effort", "auto\n"),
      control("fallback", ""),
      runtime(`${object}.d/limit`, "unknown\n"),
      runtime(`${object}.d/status`, "ready\n"),
      runtime(`${object}.d/log`, ""),
      managed(object, objectFile(source, { class: "model", name: `debug/${name}`, description }), {
        mode: 0o755,
      }),
    ];
  });
  return [
    folder("model"),
    folder("model/debug"),
    ...objects,
    { kind: "alias", path: "model/main", target: "debug/echo" },
    { kind: "alias", path: "model/helper", target: "main" },
  ];
}

function toolEntries({ source }: PlanInput, tool: BuiltinTool): Entry[] {
  const object = `tool/${tool.name}`;
  const control = (file: string, text: string) => managed(`${object}.d/${file}`, text);
  const allowed = tool.subjects.map((subject) => `allow ${subject} tool:${tool.name} execute`);
  return [
    folder(`${object}.d`),
    ...hooks(`${object}.d`, "keeper"),
    control("name", `${tool.name}\n`),
    control("description", `${tool.description}\n`),
    control("schema", `${JSON.stringify(tool.schema, null, 2)}\n`),
    control("cap", lines(tool.cap)),
    control(
      "policy",
      `# Who may execute this tool. The agent's own policy must allow it too.\n${lines(allowed)}`,
    ),
    runtime(`${object}.d/status`, "ready\n"),
    runtime(`${object}.d/log`, ""),
    managed(
      object,
      objectFile(source, {
        class: "tool",
        name: tool.name,
        cap: tool.cap.join(" "),
        controls: `${tool.name}.d`,
      }),
      { mode: 0o755 },
    ),
  ];
}

function home({ owner }: PlanInput): Entry[] {
  const base = `home/${owner.uid}`;
  return [
    folder("home"),
    folder(base, "owner", 0o700),
    folder(`${base}/tool`, "owner"),
    folder(`${base}/agent`, "owner", 0o700),
    ...builtinAgents.flatMap(({ name }) =>
      ["", "/session", "/session/index"].map((part) =>
        folder(`${base}/agent/${name}${part}`, "owner", 0o700),
      ),
    ),
  ];
}

function agentEntries(input: PlanInput, agent: BuiltinAgent): Entry[] {
  const { owner, groups, source } = input;
  const object = `agent/${agent.name}`;
  const control = (file: string, text: string): Entry =>
    managed(`${object}.d/${file}`, text, { owner: "owner" });
  const state = (file: string, text: string): Entry =>
    runtime(`${object}.d/${file}`, text, "owner");
  return [
    folder(`${object}.d`, "owner"),
    ...hooks(`${object}.d`, "owner"),
    control("owner", `${owner.uid}\n`),
    control("uid", `${owner.uid}\n`),
    control("gid", `${owner.gid}\n`),
    control("groups", lines(groups.map(String))),
    control("perm", `${agent.perm}\n`),
    control("label", `user_u:agent_r:${agent.type}:s0\n`),
    control("iso", "shared\n"),
    control("life", "owned\n"),
    control("root", "/\n"),
    control("cwd", "/workspace\n"),
    control("env", ""),
    control("path", `/ctx/tool\n/ctx/home/${owner.uid}/tool\n`),
    control("mount", ""),
    control("model", "main\n"),
    control("window", "auto\n"),
    control("policy", agentPolicy(agent)),
    control("tools", lines(agent.tools)),
    control("abi", "sdk-envelope-v1\n"),
    control("system.md", agent.system),
    control("prompt.template.md", promptTemplate),
    state("status", "idle\n"),
    state("pid", ""),
    state("log", ""),
    state("meta.json", "{}\n"),
    managed(
      object,
      objectFile(source, {
        class: "agent",
        name: agent.name,
        description: agent.description,
        controls: `${agent.name}.d`,
      }),
      { mode: 0o755, owner: "owner" },
    ),
  ];
}

function agentPolicy(agent: BuiltinAgent): string {
  const allow = (object: string, permission: string) =>
    `allow ${agent.type} ${object} ${permission}`;
  return lines([
    "# What is not allowed here is denied. A tool's own policy must allow the call as well.",
    ...["tsh", ...agent.tools].map((tool) => allow(`tool:${tool}`, "execute")),
    "# A model needs a line of its own, also when an alias such as main leads to it:",
    `#   ${allow("model:PROVIDER/MODEL", "use")}`,
    ...debugModels.map(({ name }) => allow(`model:debug/${name}`, "use")),
    "# Without this line it cannot replace its own system.md and prompt.template.md:",
    `#   ${allow("tool:agent.update", "execute")}`,
    "# Without this line there is no network:",
    `#   ${allow("network:default", "connect")}`,
  ]);
}

function hooks(folderPath: string, owner: Who): Entry[] {
  return ["hooks", "hooks/pre.d", "hooks/post.d"].map((name) =>
    folder(`${folderPath}/${name}`, owner),
  );
}

function folder(path: string, owner: Who = "keeper", mode = 0o755): Entry {
  return { kind: "folder", path, mode, owner };
}

function managed(path: string, text: string, how: { mode?: number; owner?: Who } = {}): Entry {
  return { kind: "managed", path, text, mode: how.mode ?? 0o644, owner: how.owner ?? "keeper" };
}

function generated(path: string, text: string): Entry {
  return { kind: "generated", path, text, owner: "keeper" };
}

function runtime(path: string, text: string, owner: Who = "keeper"): Entry {
  return { kind: "runtime", path, text, owner };
}

function lines(items: readonly string[]): string {
  return items.map((item) => `${item}\n`).join("");
}
