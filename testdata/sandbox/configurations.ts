// The three ways in which an agent can be run, for tests that must hold in each: by a root server as
// another uid, by a user's own server, and as uid 0 where the host allows it.

import { supplementaryGroups } from "../../internal/os/mod.ts";
import { makeScene, type Scene } from "./scene.ts";

/** Made-up uids that no account of the host has. */
export const systemAgentUid = 61184;
export const userUid = 61190;
export const extraGroup = 61001;

export interface Configuration {
  readonly name: string;
  readonly kernelUid: number;
  /** Supplementary groups as the host must see them. */
  readonly groups: readonly number[];
  readonly scene: () => Scene;
  /** What comes before the test driver's own command. */
  readonly as: readonly string[];
}

const isRoot = process.getuid?.() === 0;

const rootConfigurations: readonly Configuration[] = [
  {
    name: "root server, agent uid 61184",
    kernelUid: systemAgentUid,
    groups: [extraGroup],
    scene: () => makeScene({ agentUid: systemAgentUid, serverUid: 0, groups: [extraGroup] }),
    as: [],
  },
  {
    name: "a user's own server",
    kernelUid: userUid,
    groups: [],
    scene: () => makeScene({ agentUid: userUid, serverUid: userUid }),
    as: ["setpriv", "--reuid", `${userUid}`, "--regid", `${userUid}`, "--clear-groups"],
  },
  {
    name: "root_agents=allow, agent uid 0",
    kernelUid: 0,
    groups: [],
    scene: () => makeScene({ agentUid: 0, serverUid: 0, rootAgents: true }),
    as: [],
  },
];

/** Without root only the server of the very user who runs the tests can be tried. */
const ownConfiguration: Configuration = {
  name: "a user's own server",
  kernelUid: process.getuid?.() ?? 0,
  groups: isRoot ? [] : supplementaryGroups(),
  scene: () => {
    const uid = process.getuid?.() ?? 0;
    return makeScene({ agentUid: uid, serverUid: uid, groups: supplementaryGroups() });
  },
  as: [],
};

export const configurations = isRoot ? rootConfigurations : [ownConfiguration];

const driver = new URL("./run-command.ts", import.meta.url).pathname;

/** Why these tests cannot run here; undefined when they can. */
export function whyNot(): string | undefined {
  if (!isRoot) return undefined;
  for (const path of [process.execPath, driver]) {
    const reach = [...userPrefix(), "/bin/sh", "-c", `test -r "${path}"`];
    if (Bun.spawnSync(reach).exitCode !== 0) return `uid ${userUid} cannot read ${path}`;
  }
  return undefined;
}

function userPrefix(): readonly string[] {
  return rootConfigurations.find(({ kernelUid }) => kernelUid === userUid)?.as ?? [];
}

export interface DriverOutcome {
  readonly status: string;
  readonly code?: string;
  readonly output: string;
  readonly dropped: number;
  readonly exit?: number;
  readonly newGit: readonly string[];
}

/** Starts the driver with one shell.exec call; its lines are `ready`, live text, the outcome. */
export function startDriver(
  configuration: Configuration,
  scene: Scene,
  args: { readonly cmd: string | readonly string[]; readonly [name: string]: unknown },
  more: {
    readonly change?: unknown;
    readonly controls?: unknown;
    readonly ctxBinary?: string;
    readonly via?: string[];
  } = {},
) {
  const { change, controls, ctxBinary } = more;
  const order = JSON.stringify({ scene, args, change, controls, ctxBinary });
  return Bun.spawn([...(more.via ?? []), ...configuration.as, process.execPath, driver, order], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
    env: { HOME: "/tmp", PATH: "/usr/bin:/bin", CALLER_SECRET: "a-secret-of-the-caller" },
  });
}

export async function runDriver(...call: Parameters<typeof startDriver>): Promise<DriverOutcome> {
  const child = startDriver(...call);
  const text = await new Response(child.stdout).text();
  await child.exited;
  const last = text.trimEnd().split("\n").at(-1) ?? "";
  return JSON.parse(last) as DriverOutcome;
}
