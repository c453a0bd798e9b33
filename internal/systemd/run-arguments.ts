// The command line of systemd-run for one launch, as a value. The unit does what the built-in
// supervisor does: the program's own identity and no environment but PATH, also in a user's manager,
// whose environment may hold what a person imported into it.

import { type Limits, limitProperties } from "./limits.ts";
import { bareUnit, serviceOf } from "./unit-name.ts";

/** What a launch may take to end its sandbox and write down how it ended; then SIGKILL to the unit. */
const stopSecondsMax = 5;

const launchPath = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

export interface UnitSpec {
  readonly argv: readonly string[];
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
  readonly unit: string;
  readonly description: string;
  readonly limits: Limits;
}

/** Absolute paths of what is run. */
export interface Programs {
  readonly systemdRun: string;
  readonly env: string;
  readonly setpriv: string;
}

export function runArguments(
  spec: UnitSpec,
  scope: "user" | "system",
  controllers: readonly string[],
  programs: Programs,
): string[] {
  const properties = [
    // The launch ends its sandbox and records how; a signal to all at once would take it away first.
    // What is left when the launch is gone, or after the time, gets SIGKILL: all of the unit's group.
    "KillMode=mixed",
    `TimeoutStopSec=${stopSecondsMax}`,
    // One program that takes too much memory must not end the terminal that it ran in.
    "OOMPolicy=continue",
    // What runs in a terminal expects the signal that ends `yes | head`.
    "IgnoreSIGPIPE=no",
    "UMask=0077",
    // By this the journal finds also what a process said that was gone before anybody saw its group.
    `SyslogIdentifier=${bareUnit(spec.unit)}`,
    "WorkingDirectory=/",
    ...limitProperties(spec.limits, controllers),
    ...(scope === "system" ? groupProperties(spec) : []),
  ];
  const identity =
    scope === "user" ? ["--user"] : ["--system", `--uid=${spec.uid}`, `--gid=${spec.gid}`];
  const groups = scope === "user" ? [] : [programs.setpriv, ...exactGroups(spec.groups), "--"];
  const command = [...groups, programs.env, "-i", `PATH=${launchPath}`, ...spec.argv];
  return [
    programs.systemdRun,
    ...identity,
    ...["--quiet", "--no-ask-password", "--collect", "--service-type=exec"],
    `--unit=${serviceOf(spec.unit)}`,
    `--description=${spec.description}`,
    ...properties.map((property) => `--property=${property}`),
    "--",
    ...command.map(literal),
  ];
}

/** The manager gives a unit every group of the account; those are more than the launch may have. */
function exactGroups(groups: readonly number[]): string[] {
  const list = groups.length === 0 ? ["--clear-groups"] : [`--groups=${groups.join(",")}`];
  return [...list, "--inh-caps=-all"];
}

/** Setting the groups is all that the first program may do beyond its uid, and the next no more. */
function groupProperties(spec: UnitSpec): string[] {
  return spec.uid === 0 ? [] : ["AmbientCapabilities=CAP_SETGID"];
}

/** The manager puts its variables in for `$NAME` and `$$` is a dollar. */
function literal(word: string): string {
  return word.replaceAll("$", "$$$$");
}
