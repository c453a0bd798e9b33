// Is there a systemd that would run a unit for us: the system's for root, a user's own for a user.
// Never a guess: its private socket must be where the environment says, be the right uid's, take a
// connection, and the manager behind it must answer a question.

import { lstatSync, readFileSync } from "node:fs";
import { coded } from "../abi/mod.ts";
import { probeUnix } from "../os/mod.ts";
import { call, program } from "./programs.ts";
import { parseShow } from "./show.ts";

/** An idle manager answers in 20 ms; one that does not in this time is none that helps. */
const answerMsMax = 5000;

export interface ManagerPlace {
  readonly scope: "user" | "system";
  readonly socket: string;
  /** Owner of the socket and of the manager. */
  readonly uid: number;
  /** What systemd's programs need to know to reach it. */
  readonly env: Readonly<Record<string, string>>;
}

export type FoundManager =
  | {
      readonly ok: true;
      readonly place: ManagerPlace;
      readonly version: string;
      /** cgroup controllers that its units can be limited with. */
      readonly controllers: readonly string[];
    }
  | { readonly ok: false; readonly reason: string };

/** Where it would be, or why there can be none. Pure. */
export function managerPlace(
  uid: number,
  env: Readonly<Record<string, string | undefined>>,
): ManagerPlace | string {
  if (uid === 0) return { scope: "system", socket: "/run/systemd/private", uid, env: {} };
  const runtime = env["XDG_RUNTIME_DIR"];
  if (runtime === undefined || !runtime.startsWith("/")) return "XDG_RUNTIME_DIR is not set";
  const bus = env["DBUS_SESSION_BUS_ADDRESS"];
  return {
    scope: "user",
    socket: `${runtime}/systemd/private`,
    uid,
    env: {
      XDG_RUNTIME_DIR: runtime,
      ...(bus === undefined ? {} : { DBUS_SESSION_BUS_ADDRESS: bus }),
    },
  };
}

export async function findManager(
  uid: number,
  env: Readonly<Record<string, string | undefined>>,
): Promise<FoundManager> {
  const place = managerPlace(uid, env);
  if (typeof place === "string") return { ok: false, reason: place };
  const reason = silence(place);
  if (reason !== undefined) return { ok: false, reason };
  const systemctl = program("systemctl");
  if (systemctl === undefined || program("systemd-run") === undefined) {
    return { ok: false, reason: "systemctl and systemd-run are not installed" };
  }
  const asked = ["--property=Version", "--property=ControlGroup", "--property=Environment"];
  const argv = [systemctl, `--${place.scope}`, "show", ...asked];
  const { exit, stdout, stderr } = await call(argv, place.env, answerMsMax);
  const said = parseShow(stdout);
  const version = said["Version"];
  if (exit !== 0 || version === undefined) {
    const why = stderr.trim().split("\n", 1)[0] || `no answer in ${answerMsMax / 1000} s`;
    return { ok: false, reason: `the ${place.scope} manager does not answer: ${why}` };
  }
  return { ok: true, place, version, controllers: controllersOf(said["ControlGroup"] ?? "") };
}

/** Why nobody is there, or undefined when somebody takes a connection. */
function silence({ socket, uid, scope }: ManagerPlace): string | undefined {
  try {
    const facts = lstatSync(socket, { throwIfNoEntry: false });
    if (facts === undefined) return `no systemd ${scope} manager runs here`;
    if (!facts.isSocket() || facts.uid !== uid) return `"${socket}" is not uid ${uid}'s socket`;
    const state = probeUnix(socket);
    return state === "listening" || state === "full" ? undefined : `"${socket}" is ${state}`;
  } catch (error) {
    // Somebody else's runtime folder.
    return coded(error).message;
  }
}

/** Of the unified hierarchy alone: with the older ones a manager's word is no proof of a limit. */
function controllersOf(group: string): string[] {
  try {
    const file = `/sys/fs/cgroup${group === "/" ? "" : group}/cgroup.controllers`;
    return readFileSync(file, "utf8").trim().split(" ").filter(Boolean);
  } catch {
    return [];
  }
}
