// The plan of a terminal: a sandbox like that of a call, with the terminal's owner as its program, an
// environment of its own and the folders that a person adds. Never wider than the agent's own view:
// a person gives only what any workspace may be, and what the agent has read-only stays so.

import { fail } from "../abi/mod.ts";
import type { AgentControls, MountLine } from "../control/mod.ts";
import { checkWorkFolders } from "./admission.ts";
import { terminalEnvironment } from "./environment.ts";
import type { GeneratedFolders } from "./generated.ts";
import { forbiddenPlaces, grantable } from "./host-folder.ts";
import { isBelow, type Location, type Mount, overlap, readMounts } from "./location.ts";
import { checkSize } from "./payload.ts";
import { planSandbox, workspaceView } from "./plan.ts";
import type { TerminalPlan, TerminalRequest } from "./terminal-types.ts";
import type { LauncherOptions } from "./types.ts";
import { viewDigest } from "./view-digest.ts";

/** Folders that one start may add. Past it EINVAL. */
export const terminalMountsMax = 32;

const terminalProgram = "/ctx/bin/ctxterm";
const shellProgram = "/ctx/bin/tsh";

/**
 * The terminal's owner listens on what it was handed as standard input and writes its recording to
 * standard output: no writable folder of ours is in the sandbox.
 */
const terminalArguments = ["--listen-fd", "0", "--record", "-", "--"];

export function planTerminal(
  options: LauncherOptions,
  folders: GeneratedFolders,
  request: TerminalRequest,
): TerminalPlan {
  const { agent, session, controls, command, mounts, ...rest } = request;
  refuseForeignUid(agent, controls);
  if (command?.length === 0) fail("EINVAL", "the command of a terminal is empty");
  const program = [terminalProgram, ...terminalArguments, ...(command ?? [shellProgram])];
  checkSize(program);
  const { workspace, lines } = folderLines(options, agent, controls, mounts);
  const asked = {
    ...rest,
    ...{ agent, session, run: `terminal-${agent}-${session}`, scope: { kind: "private" } as const },
    controls: { ...controls, mount: lines },
    workspace,
  };
  checkWorkFolders(options, asked);
  const env = terminalEnvironment(asked);
  const { spec, identity, network, expected } = planSandbox(options, folders, asked, { env });
  if (!spec.binds.some(({ view }) => view === terminalProgram)) {
    fail("EHOSTDOWN", `cannot start a terminal: there is no "ctxterm" beside the tree's programs`, {
      hint: "run ctx bootstrap with programs of one version",
    });
  }
  return {
    ...{ agent, session, program, workspace },
    launch: { spec, identity, network, expected },
    view: viewDigest({ ...request, workspace }),
  };
}

/** What runs for a person in a terminal keeps files and a socket that are the person's. */
function refuseForeignUid(agent: string, { uid, owner }: AgentControls): void {
  if (uid === owner) return;
  fail("EACCES", `agent "${agent}" runs as uid ${uid} and belongs to uid ${owner}: no terminal`, {
    hint: `only an agent whose uid control is its owner's has one; set agent/${agent}.d/uid to ${owner}`,
  });
}

interface FolderLines {
  readonly workspace: string | undefined;
  readonly lines: readonly MountLine[];
}

/** The agent's lines with the person's after them; a line rw for /workspace is the workspace. */
function folderLines(
  options: LauncherOptions,
  agent: string,
  controls: AgentControls,
  added: readonly MountLine[],
): FolderLines {
  if (added.length === 0) return { workspace: undefined, lines: controls.mount };
  if (added.length > terminalMountsMax) {
    fail("EINVAL", `${added.length} mounts are asked for, at most ${terminalMountsMax} are taken`);
  }
  const mounts = readMounts();
  const forbidden = forbiddenPlaces(options.places, options.runtime, mounts);
  const own = controls.mount.map((line) => ({
    line,
    at: grantable("mount source", line.source, mounts, forbidden),
  }));
  const targets = new Set<string>();
  const checked = added.map((line) => {
    const { source, target } = line;
    if (targets.has(target)) fail("EINVAL", `mount target "${target}" is asked for twice`);
    targets.add(target);
    const at = grantable("mount source", source, mounts, forbidden);
    refuseTaken(agent, target, controls.mount);
    return limited(agent, line, { at, own, mounts });
  });
  const rest = checked.filter((line) => line.target !== workspaceView || line.access === "ro");
  return {
    workspace: checked.find((line) => !rest.includes(line))?.source,
    lines: [...controls.mount.filter(({ target }) => !targets.has(target)), ...rest],
  };
}

/** The agent's own folders are where its controls say; only /workspace is the caller's to say. */
function refuseTaken(agent: string, target: string, lines: readonly MountLine[]): void {
  if (target === workspaceView) return;
  const taken = lines.find((line) => isBelow(target, line.target) || isBelow(line.target, target));
  if (taken === undefined || taken.target === workspaceView) return;
  fail("EACCES", `mount target "${target}" would change "${taken.target}" of agent "${agent}"`, {
    hint: "choose another target, or change the agent's mount control",
  });
}

interface Given {
  readonly at: Location;
  readonly own: readonly { readonly line: MountLine; readonly at: Location }[];
  readonly mounts: readonly Mount[];
}

/** What the agent sees read-only or without programs elsewhere is not given with more here. */
function limited(agent: string, line: MountLine, { at, own, mounts }: Given): MountLine {
  let { noexec } = line;
  for (const one of own) {
    if (overlap(at, one.at, mounts) === undefined) continue;
    if (one.line.access === "ro" && line.access === "rw") {
      fail("EACCES", `"${line.source}" is read-only for agent "${agent}" at "${one.line.target}"`, {
        hint: "mount it ro, or change the agent's mount control",
      });
    }
    noexec ||= one.line.noexec;
  }
  if (noexec && line.target === workspaceView && line.access === "rw" && !line.noexec) {
    fail("EACCES", `programs may not be run from "${line.source}" for agent "${agent}"`, {
      hint: "choose another workspace, or change the agent's mount control",
    });
  }
  return { ...line, noexec };
}
