// The file that fs.write or fs.replace would change, as the person can read it on the host. The view's
// path is mapped by what is known here: the folder that became /workspace, the agent's home, its
// mounts. What cannot be mapped or read for certain is not guessed.

import { closeSync } from "node:fs";
import { posix } from "node:path";
import { coded } from "../../internal/abi/mod.ts";
import { openPath, readBeneath } from "../../internal/os/mod.ts";
import type { AgentContext } from "./context.ts";

/** A file that is read to be compared. Past it there is no diff. */
const comparedBytesMax = 8 * 1024 * 1024;

export type SeenFile =
  /** `text` is undefined when there is no such file. */
  | { readonly ok: true; readonly text: string | undefined }
  | { readonly ok: false; readonly because: string };

interface Root {
  readonly view: string;
  readonly host: string;
}

export function seenFile(
  context: Pick<AgentContext, "controls" | "home">,
  workspace: string | undefined,
  cwd: string,
  path: string,
): SeenFile {
  // A ".." behind a symlink leads elsewhere than the words say.
  if (path.split("/").includes("..")) return refused("its path climbs out of a folder");
  const view = posix.resolve(cwd, path);
  const root = rootsOf(context, workspace).find((one) => view.startsWith(`${one.view}/`));
  if (root === undefined) return refused(`"${view}" is no folder of this machine`);
  try {
    const folder = openPath(root.host, "folder");
    try {
      const bytes = readBeneath(folder, view.slice(root.view.length + 1), comparedBytesMax);
      return { ok: true, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
    } finally {
      closeSync(folder);
    }
  } catch (error) {
    if (error instanceof TypeError) return refused("the file is no UTF-8 text");
    const { code, message } = coded(error);
    return code === "ENOENT" ? { ok: true, text: undefined } : refused(message);
  }
}

/** The innermost first. */
function rootsOf(
  { controls, home }: Pick<AgentContext, "controls" | "home">,
  workspace: string | undefined,
): Root[] {
  const mounts = controls.mount.map(({ source, target }) => ({ view: target, host: source }));
  const own = { view: "/home/agent", host: home };
  const roots = [
    own,
    ...mounts.filter(({ view }) => workspace === undefined || view !== "/workspace"),
  ];
  if (workspace !== undefined) roots.push({ view: "/workspace", host: workspace });
  return roots.sort((a, b) => b.view.length - a.view.length);
}

function refused(because: string): SeenFile {
  return { ok: false, because };
}
