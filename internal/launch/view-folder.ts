// The /ctx of a sandbox, made for one agent: the tools and models it may use, its own readable
// controls, a link to its home, mount points for the programs. What it may not see does not exist
// here. Where the folder cannot hold what is executed, `viewPrograms` says what must lie over it.

import { posix } from "node:path";
import { coded, controlBytesMax, fail } from "../abi/mod.ts";
import { readBeneath } from "../os/mod.ts";
import type { GeneratedProgram } from "../sandbox/mod.ts";
import type { ToolObject, Tree } from "../tree/mod.ts";
import type { GeneratedEntry, GeneratedFolders } from "./generated.ts";
import type { VisibleModel } from "./types.ts";

/**
 * Controls of itself that an agent may read. Not among them: `mount`, which names host paths, and
 * `policy`, which is for the person who decides.
 */
const readableControls = [
  ...["system.md", "prompt.template.md", "model", "window", "label", "perm", "cwd", "path"],
  ...["tools", "abi", "approval", "life", "parent"],
];

/** The kernel runs `/ctx/bin/ctx exec PATH ARG…`. */
const runnerLine = "#!/ctx/bin/ctx exec\n";

/**
 * Generated programs that lie over one view. Each is a descriptor of bubblewrap's and a mount of its
 * own, about 0.2 ms of a launch; past it the launch fails with EMSGSIZE.
 */
const viewProgramsMax = 256;

export interface ViewInput {
  readonly agent: string;
  /** The uid folder of its home. */
  readonly homeUid: string;
  readonly visible: readonly ToolObject[];
  readonly models: readonly VisibleModel[];
  /** Whether its own program is bound over an empty file. */
  readonly step: boolean;
  /** Names of the programs that are bound over empty files in bin/. */
  readonly programs: readonly string[];
}

export function viewFolder(folders: GeneratedFolders, tree: Tree, input: ViewInput): string {
  const entries = [
    ...input.programs.map((name): GeneratedEntry => program(`bin/${name}`)),
    { kind: "folder", path: "tool" } as const,
    ...input.visible.flatMap(toolEntries),
    ...shellConfig(tree, input.visible),
    ...input.models.flatMap(modelEntries),
    ...(input.step ? [program(`agent/${input.agent}`)] : []),
    ...controlEntries(tree, input.agent),
    homeLink(input),
    text("status", `view=sandbox\nagent=${input.agent}\n`),
  ];
  return folders.folder(JSON.stringify(["ctx", entries]), () => entries);
}

/** Programs of tools that are not built in: bound over the entries made for them here. */
export function toolPrograms(visible: readonly ToolObject[]): readonly ToolObject[] {
  return visible.filter((tool) => !tool.builtin);
}

/**
 * What the view's generated programs hold, by their paths inside. Throws EMSGSIZE for more than one
 * sandbox can be given.
 */
export function viewPrograms({
  agent,
  visible,
  models,
}: Pick<ViewInput, "agent" | "visible" | "models">): GeneratedProgram[] {
  const entries = [...visible.flatMap(toolEntries), ...models.flatMap(modelEntries)];
  const programs = entries.flatMap((entry): GeneratedProgram[] => {
    if (entry.kind !== "file" || !entry.executable || typeof entry.content !== "string") return [];
    const { path, content } = entry;
    return content === "" ? [] : [{ view: `/ctx/${path}`, content }];
  });
  if (programs.length <= viewProgramsMax) return programs;
  const many = `${programs.length} built-in tools and models`;
  return fail(
    "EMSGSIZE",
    `agent "${agent}" sees ${many}; at most ${viewProgramsMax} can be shown`,
    {
      hint: "let its policy name fewer, or mount the runtime folder without noexec",
    },
  );
}

function toolEntries(tool: ToolObject): GeneratedEntry[] {
  const path = posix.relative("/ctx", posix.normalize(tool.viewPath));
  if (path === "" || path.startsWith("..")) return [];
  const head = `${runnerLine}# class: tool\n# name: ${tool.name}\n`;
  return [
    tool.builtin
      ? { kind: "file", path, content: `${head}# cap: ${tool.cap.join(" ")}\n`, executable: true }
      : program(path),
    text(`${path}.d/name`, `${tool.name}\n`),
    text(`${path}.d/description`, `${tool.description}\n`),
    text(`${path}.d/schema`, `${JSON.stringify(tool.schema)}\n`),
    text(`${path}.d/cap`, tool.cap.map((word) => `${word}\n`).join("")),
  ];
}

/** The bounds of what a session has loaded are shown where the shell that obeys them is. */
function shellConfig(tree: Tree, visible: readonly ToolObject[]): GeneratedEntry[] {
  const file = "tool/tsh.d/config";
  const shell = visible.some(({ viewPath, builtin }) => builtin && viewPath === "/ctx/tool/tsh");
  return shell ? copied(tree, file) : [];
}

/** The runner takes class and name from the path; the host makes the call. */
function modelEntries({ viewPath }: VisibleModel): GeneratedEntry[] {
  const name = /^\/ctx\/model\/([^/.][^/]*\/[^/.][^/]*)$/.exec(viewPath)?.[1];
  if (name === undefined) return [];
  const content = `${runnerLine}# class: model\n# name: ${name}\n`;
  return [{ kind: "file", path: `model/${name}`, content, executable: true }];
}

function controlEntries(tree: Tree, agent: string): GeneratedEntry[] {
  const folder = `agent/${agent}.d`;
  return [
    { kind: "folder", path: folder },
    ...readableControls.flatMap((name) => copied(tree, `${folder}/${name}`)),
  ];
}

/** A control as it is in the tree, where it is there. */
function copied(tree: Tree, path: string): GeneratedEntry[] {
  try {
    return [text(path, new TextDecoder().decode(readBeneath(tree.folder, path, controlBytesMax)))];
  } catch (error) {
    if (coded(error).code === "ENOENT") return [];
    throw error;
  }
}

function homeLink({ agent, homeUid }: ViewInput): GeneratedEntry {
  return { kind: "link", path: `home/${homeUid}/agent/${agent}`, target: "/home/agent" };
}

function text(path: string, content: string): GeneratedEntry {
  return { kind: "file", path, content };
}

function program(path: string): GeneratedEntry {
  return { kind: "file", path, content: "", executable: true };
}
