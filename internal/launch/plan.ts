// From a request to everything that a launch needs, before anything runs. All refusals that can be
// known beforehand are made here.

import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fail } from "../abi/mod.ts";
import { type NetworkProgram, networkProgram } from "../bwrap/mod.ts";
import type { Bind, SandboxSpec } from "../sandbox/mod.ts";
import { homePlan } from "./agent-home.ts";
import { type AgentProgramPlan, agentProgram } from "./agent-program.ts";
import { controlView, homeUid, stepEnvironment, toolEnvironment } from "./environment.ts";
import { etcFolder } from "./etc-folder.ts";
import { type Expectation, hostExpectation, toolExpectations } from "./expectation.ts";
import type { GeneratedFolders } from "./generated.ts";
import { gitBinds, type WatchedRoot } from "./git.ts";
import { forbiddenPlaces, grantable } from "./host-folder.ts";
import { type RuntimeIdentity, runtimeIdentity } from "./identity.ts";
import { isBelow, isNoexec, type Location, locate, type Mount, readMounts } from "./location.ts";
import { type MountPlan, mountPlans } from "./mount-lines.ts";
import { commandFolder } from "./payload.ts";
import type { ServiceRequest } from "./service-types.ts";
import type { StepRequest } from "./step-types.ts";
import { systemView } from "./system-view.ts";
import type { LauncherOptions, LaunchRequest, StandbyRequest } from "./types.ts";
import { toolPrograms, viewFolder, viewPrograms } from "./view-folder.ts";

/** /tmp of one sandbox. Past it ENOSPC inside. */
export const tmpBytesMax = 512 * 1024 * 1024;
/** /dev/shm of one sandbox. Past it ENOSPC inside. */
export const shmBytesMax = 64 * 1024 * 1024;

export const workspaceView = "/workspace";
export const homeView = "/home/agent";

export interface LaunchPlan {
  readonly spec: SandboxSpec;
  readonly identity: RuntimeIdentity;
  readonly network: NetworkProgram | undefined;
  readonly expected: readonly Expectation[];
  readonly watched: readonly WatchedRoot[];
  /** The host's mounts above and below all that is shared. */
  readonly mounts: readonly Mount[];
  /** Of a step: the agent's own program. */
  readonly program?: AgentProgramPlan | undefined;
}

/** What a launch has of its own beside what all launches of its run have. */
interface Occupant {
  readonly env: ReadonlyMap<string, string>;
  /** Relative to the run's working folder. */
  readonly folder?: string | undefined;
  readonly program?: AgentProgramPlan | undefined;
}

export function planLaunch(
  options: LauncherOptions,
  folders: GeneratedFolders,
  request: LaunchRequest,
): LaunchPlan {
  const { tool } = request;
  if (tool.builtin && tool.name !== "shell.exec" && !existsSync(options.ctxBinary)) {
    fail("EHOSTDOWN", `cannot run tool "${tool.name}": no "${options.ctxBinary}"`);
  }
  const env = toolEnvironment(request);
  return planSandbox(options, folders, request, { env, folder: commandFolder(request) });
}

export function planStep(
  options: LauncherOptions,
  folders: GeneratedFolders,
  request: StandbyRequest & Pick<StepRequest, "program" | "window">,
): LaunchPlan & { readonly program: AgentProgramPlan } {
  const program = agentProgram(options.tree, request);
  const env = stepEnvironment(request);
  return { ...planSandbox(options, folders, request, { env, program }), program };
}

export function planService(
  options: LauncherOptions,
  folders: GeneratedFolders,
  request: ServiceRequest,
): LaunchPlan {
  return planSandbox(options, folders, request, { env: toolEnvironment(request) });
}

export function planSandbox(
  options: LauncherOptions,
  folders: GeneratedFolders,
  request: StandbyRequest,
  { env, folder, program }: Occupant,
): LaunchPlan {
  const { agent, controls, control } = request;
  const identity = runtimeIdentity(agent, controls, {
    uid: options.serverUid,
    gid: process.getgid?.() ?? 0,
    rootAgents: options.rootAgents,
  });
  if (controls.root !== "/") {
    fail("EACCES", `agent "${agent}" has root "${controls.root}"; only "/" can be launched`);
  }
  const network = request.network ? networkProgram() : undefined;
  const programs = ctxPrograms(options.ctxBinary);
  const shared = sharedFolders(options, identity, request);
  const view = viewFolder(folders, options.tree, {
    agent,
    homeUid: homeUid(request.home),
    visible: request.visible,
    models: request.models,
    step: program !== undefined,
    programs: programs.map(({ name }) => name),
  });
  const { uid, gid } = identity;
  const tools = toolPrograms(request.visible);
  const expected = [
    ...shared.expected,
    ...toolExpectations(options.tree, tools),
    ...programs.map(({ name, dev, ino }) => ({ view: `/ctx/bin/${name}`, dev, ino })),
    ...(program === undefined ? [] : [program]),
    ...(control === undefined ? [] : [hostExpectation(controlView, control)]),
  ];
  const spec: SandboxSpec = {
    system: systemView(),
    etc: etcFolder(folders, { user: agent, uid, gid, resolver: network?.resolver }),
    view,
    programs: isNoexec(view, shared.mounts) ? viewPrograms(request) : [],
    binds: [
      ...programs.map(({ name, host }) => readOnly(host, `/ctx/bin/${name}`)),
      ...tools.map(({ hostPath, viewPath }) => readOnly(hostPath, viewPath)),
      ...(program === undefined ? [] : [readOnly(program.host, program.view)]),
      ...(control === undefined ? [] : [readOnly(control, controlView)]),
      ...shared.binds,
    ],
    cwd: workFolder(request, shared.views, folder),
    env,
    network: network === undefined ? "none" : "granted",
    maskProc: identity.kernelRoot,
    tmpBytes: tmpBytesMax,
    shmBytes: shmBytesMax,
  };
  const hosts = [...spec.system.binds, ...spec.binds].map(({ host }) => host);
  const mounts = shared.mounts.filter(({ point }) =>
    hosts.some((host) => isBelow(point, host) || isBelow(host, point)),
  );
  return { spec, identity, network, expected, watched: shared.watched, mounts };
}

function readOnly(host: string, view: string): Bind {
  return { host, view, access: "ro" };
}

/** The programs for /ctx/bin; the server is not among them. */
function ctxPrograms(ctxBinary: string): Program[] {
  if (!existsSync(ctxBinary)) return [];
  const beside = dirname(ctxBinary);
  return [
    programAt("ctx", ctxBinary),
    ...["tsh", "ctxterm", "ctxmcp"]
      .filter((name) => existsSync(join(beside, name)))
      .map((name) => programAt(name, join(beside, name))),
  ];
}

interface Program {
  readonly name: string;
  readonly host: string;
  readonly dev: bigint;
  readonly ino: bigint;
}

function programAt(name: string, path: string): Program {
  const host = realpathSync(path);
  const { dev, ino } = statSync(host, { bigint: true });
  return { name, host, dev, ino };
}

interface Shared {
  readonly binds: readonly Bind[];
  readonly views: readonly string[];
  readonly expected: readonly Expectation[];
  readonly watched: readonly WatchedRoot[];
  readonly mounts: readonly Mount[];
}

/** Home, workspace and mounts: the folders of the host that the agent works in. */
function sharedFolders(
  options: LauncherOptions,
  identity: RuntimeIdentity,
  request: StandbyRequest,
): Shared {
  const mounts = readMounts();
  const forbidden = forbiddenPlaces(options.places, options.runtime, mounts);
  const home = homePlan(options.tree, request.home, identity.become);
  const workspace =
    request.workspace === undefined
      ? undefined
      : workspacePlan(request.workspace, mounts, forbidden);
  const lines = request.controls.mount.filter(
    // The caller's folder is what this call is about, so it wins over a standing one.
    ({ target }) => workspace === undefined || target !== workspaceView,
  );
  const existing = [
    { host: request.home, view: homeView },
    ...(workspace ? [{ host: workspace.source.path, view: workspaceView }] : []),
  ];
  const plans = [
    ...(workspace ? [workspace] : []),
    ...mountPlans(lines, mounts, forbidden, existing),
  ];
  const writable = plans.filter(({ bind, source }) => bind.access === "rw" && source.folder);
  const views = [homeView, ...plans.map(({ bind }) => bind.view)];
  const git = writable
    .flatMap(({ bind }) => gitBinds(bind.host, bind.view, identity.become))
    // A repository outside keeps its host path. Where another folder is seen at that path, showing
    // it would make folders in there.
    .filter((bind) => isShared(bind, writable) || !views.some((view) => isBelow(bind.view, view)));
  for (const bind of git) checkRepository(bind, writable, mounts, forbidden);
  return {
    binds: [...home.binds, ...plans.map(({ bind }) => bind), ...git],
    views,
    expected: [
      ...home.expected,
      ...plans.map(({ bind, source }) => ({ view: bind.view, dev: source.dev, ino: source.ino })),
      ...git.map((bind) => ({ view: bind.view, ...identityOf(locate(bind.host, mounts)) })),
    ],
    watched: writable.map(({ bind: { host, view } }) => ({ host, view, agent: identity.become })),
    mounts,
  };
}

function isShared(bind: Bind, plans: readonly MountPlan[]): boolean {
  return plans.some((plan) => isBelow(bind.host, plan.bind.host));
}

function identityOf({ dev, ino }: Location): { dev: bigint; ino: bigint } {
  return { dev, ino };
}

export function workspacePlan(
  path: string,
  mounts: readonly Mount[],
  forbidden: Parameters<typeof grantable>[3],
): MountPlan {
  const source = grantable("workspace", path, mounts, forbidden);
  if (!source.folder) fail("ENOENT", `workspace "${path}" is not a folder`);
  return { source, bind: { host: source.path, view: workspaceView, access: "rw" } };
}

/** A repository outside of the workspace is one more host folder, under the same rules. */
function checkRepository(
  bind: Bind,
  writable: readonly MountPlan[],
  mounts: readonly Mount[],
  forbidden: Parameters<typeof grantable>[3],
): void {
  if (isShared(bind, writable)) return;
  grantable("git folder", bind.host, mounts, forbidden);
}

/** Folders of the sandbox itself that a command may start in. */
const ownFolders = ["/tmp", "/ctx", "/usr", "/etc", "/proc", "/dev"];

function workFolder(
  request: StandbyRequest,
  views: readonly string[],
  folder: string | undefined,
): string {
  const standard = request.controls.cwd;
  const hasWorkspace = views.includes(workspaceView);
  const fallback = isBelow(standard, workspaceView) && !hasWorkspace ? homeView : standard;
  const base = request.cwd ?? fallback;
  const cwd = resolve("/", base, folder ?? ".");
  refuseOutside(request.agent, cwd, views);
  return cwd;
}

/** Throws EACCES for a folder that is not in the view; whether it exists is not asked here. */
export function refuseOutside(agent: string, cwd: string, views: readonly string[]): void {
  if ([...views, ...ownFolders].some((view) => isBelow(cwd, view))) return;
  fail("EACCES", `folder "${cwd}" lies outside of what agent "${agent}" sees`, {
    hint: `it sees ${[...views, "/tmp"].join(", ")}`,
  });
}
