// The /ctx of a sandbox, made for one agent: the tools and models it may use, its own readable
// controls, a link to its home. Programs are mount points here: a folder of the host may be mounted
// noexec, so those that are made up come as files of the sandbox's own (`viewPrograms`). What it may
// not see does not exist here.

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
 * Programs of one view that are made up. Each is a descriptor of bubblewrap's and a mount of its own,
 * about 30 µs; past it the launch fails with EMSGSIZE.
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
 * The objects whose program is the runner, which takes class and name from the path; of a model the
 * host makes the call. Throws EMSGSIZE for more than a sandbox can be given.
 */
export function viewPrograms({
  agent,
  visible,
  models,
}: Pick<ViewInput, "agent" | "visible" | "models">): GeneratedProgram[] {
  const programs = [
    ...visible.flatMap((tool): GeneratedProgram[] => {
      const path = tool.builtin ? pathOf(tool) : undefined;
      if (path === undefined) return [];
      const lines = `# class: tool\n# name: ${tool.name}\n# cap: ${tool.cap.join(" ")}\n`;
      return [{ view: `/ctx/${path}`, content: `${runnerLine}${lines}` }];
    }),
    ...models.flatMap((model): GeneratedProgram[] => {
      const name = nameOf(model);
      if (name === undefined) return [];
      const content = `${runnerLine}# class: model\n# name: ${name}\n`;
      return [{ view: `/ctx/model/${name}`, content }];
    }),
  ];
  if (programs.length <= viewProgramsMax) return programs;
  return fail(
    "EMSGSIZE",
    `agent "${agent}" sees ${programs.length} built-in tools and models; ` +
      `a sandbox holds at most ${viewProgramsMax}`,
    { hint: "let its policy name fewer models" },
  );
}

function toolEntries(tool: ToolObject): GeneratedEntry[] {
  const path = pathOf(tool);
  if (path === undefined) return [];
  return [
    program(path),
    text(`${path}.d/name`, `${tool.name}\n`),
    text(`${path}.d/description`, `${tool.description}\n`),
    text(`${path}.d/schema`, `${JSON.stringify(tool.schema)}\n`),
    text(`${path}.d/cap`, tool.cap.map((word) => `${word}\n`).join("")),
  ];
}

function modelEntries(model: VisibleModel): GeneratedEntry[] {
  const name = nameOf(model);
  return name === undefined ? [] : [program(`model/${name}`)];
}

/** Relative to /ctx; undefined for a tool that is not below it. */
function pathOf({ viewPath }: ToolObject): string | undefined {
  const path = posix.relative("/ctx", posix.normalize(viewPath));
  return path === "" || path.startsWith("..") ? undefined : path;
}

function nameOf({ viewPath }: VisibleModel): string | undefined {
  return /^\/ctx\/model\/([^/.][^/]*\/[^/.][^/]*)$/.exec(viewPath)?.[1];
}

function controlEntries(tree: Tree, agent: string): GeneratedEntry[] {
  const folder = `agent/${agent}.d`;
  return [
    { kind: "folder", path: folder },
    ...readableControls.flatMap((name): GeneratedEntry[] => {
      try {
        const bytes = readBeneath(tree.folder, `${folder}/${name}`, controlBytesMax);
        return [text(`${folder}/${name}`, new TextDecoder().decode(bytes))];
      } catch (error) {
        if (coded(error).code === "ENOENT") return [];
        throw error;
      }
    }),
  ];
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
