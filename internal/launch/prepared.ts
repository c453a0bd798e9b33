// A call as it would be run, as values that can be shown, digested and compared: what a person was
// asked about and what runs later are the same exactly when every part is. Which other tools the
// view holds is no part of it.

import { closeSync, fstatSync, statSync } from "node:fs";
import { relative } from "node:path";
import { fail } from "../abi/mod.ts";
import { openBeneath } from "../os/mod.ts";
import type { LaunchPlan } from "./plan.ts";
import type {
  Launcher,
  LauncherOptions,
  LaunchRequest,
  PreparedCall,
  PreparedPart,
} from "./types.ts";

/** What a difference is called in a refusal. */
const partNames: Readonly<Record<PreparedPart, string>> = {
  tool: "its tool",
  executable: "its executable",
  arguments: "its arguments",
  cwd: "its working folder",
  folders: "the folders that it sees",
  identity: "the user that it runs as",
  network: "its network",
  environment: "its environment",
  limit: "its time limit",
};

const parts = Object.keys(partNames) as PreparedPart[];

export function preparedCall(
  options: LauncherOptions,
  request: LaunchRequest,
  plan: LaunchPlan,
): PreparedCall {
  const { spec, identity, expected, network } = plan;
  const { tool } = request;
  const found = new Map(expected.map(({ view, dev, ino }) => [view, `${dev}:${ino}`]));
  const folders = spec.binds
    .filter(({ view }) => !view.startsWith("/ctx/"))
    .map(({ view, host, access, noexec }) => [view, host, access, noexec, found.get(view)]);
  return {
    cwd: spec.cwd,
    parts: {
      tool: JSON.stringify([tool.name, tool.viewPath, tool.hostPath, tool.builtin]),
      executable: JSON.stringify(executables(options, request)),
      arguments: canonicalJson(request.args),
      cwd: spec.cwd,
      folders: JSON.stringify([request.workspace ?? null, folders]),
      identity: JSON.stringify([identity.uid, identity.gid, identity.become ?? null]),
      network: JSON.stringify([spec.network, network?.path ?? null]),
      environment: JSON.stringify([...spec.env]),
      limit: String(request.timeoutMs),
    },
  };
}

/** Throws ECANCELED, naming every part that is not what was approved. */
export function refuseChanged({ tool, approved }: LaunchRequest, now: PreparedCall): void {
  if (approved === undefined) return;
  const changed = parts.filter((part) => approved.parts[part] !== now.parts[part]);
  if (changed.length === 0) return;
  const what = changed.map((part) => partNames[part]).join(", ");
  const verb = changed.length > 1 || changed[0] === "folders" ? "are" : "is";
  fail("ECANCELED", `tool "${tool.name}" was not run: ${what} ${verb} not what was approved`);
}

/** The same for a call that no launch is made of: it is examined anew first. */
export function refuseChangedCall(
  launcher: Pick<Launcher, "examine">,
  request: LaunchRequest,
): void {
  if (request.approved !== undefined) refuseChanged(request, launcher.examine(request));
}

/** The files that run: of a built-in tool its object and the program that runs objects. */
function executables({ tree, ctxBinary }: LauncherOptions, { tool }: LaunchRequest): string[] {
  const fd = openBeneath(tree.folder, relative(tree.source, tool.hostPath), "path");
  try {
    const object = stamp(fstatSync(fd, { bigint: true }));
    if (!tool.builtin || tool.name === "shell.exec") return [object];
    return [object, stamp(statSync(ctxBinary, { bigint: true }))];
  } finally {
    closeSync(fd);
  }
}

/** A file that was written, replaced or given other rights since has another one. */
function stamp(stats: {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly size: bigint;
  readonly mode: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}): string {
  const { dev, ino, size, mode, mtimeNs, ctimeNs } = stats;
  return [dev, ino, size, mode, mtimeNs, ctimeNs].join(":");
}

/** JSON with the keys of every object in one order. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const pairs = Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, one]) => `${JSON.stringify(key)}:${canonicalJson(one)}`);
  return `{${pairs.join(",")}}`;
}
