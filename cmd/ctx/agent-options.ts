// What the options of `ctx agent new` say about an agent, laid over what its file says.

import { closeSync } from "node:fs";
import { controlBytesMax, fail, type Place } from "../../internal/abi/mod.ts";
import { unreadable } from "../../internal/cli/mod.ts";
import { openPath, readWhole, supplementaryGroups } from "../../internal/os/mod.ts";
import {
  type AgentDescription,
  type Given,
  listOf,
  mountLine,
  openProgram,
  type PlanContext,
  readAgentDescription,
  treeOwner,
} from "../../internal/tree/mod.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { type Context, callerUid } from "./context.ts";

export const agentOptions = {
  from: { type: "string", describe: "Markdown file with front matter, or folder of control files" },
  model: { type: "string", describe: "PROVIDER/MODEL or an alias (default: main)" },
  tools: { type: "string", describe: "Tools that it is offered, A,B; repeatable" },
  mount: { type: "string", describe: "'SRC DST ro|rw [OPTIONS]'; repeatable" },
  perm: { type: "string", describe: "Ceiling for built-in tools, as r-x (default: r--)" },
  label: { type: "string", describe: "Label; its type is the subject of policy lines" },
  exec: { type: "string", describe: "Program of an agent that speaks sdk-envelope-v1" },
  approval: { type: "string", describe: "auto, or ask before each call" },
  system: { type: "string", describe: "File with the text that tells it what it is" },
} as const satisfies CommandSpec["options"];

/** The caller closes the program of what it gets. */
export function describedAgent(args: Arguments): AgentDescription {
  const from = args.text("from");
  const base: AgentDescription =
    from === undefined
      ? { name: undefined, controls: new Map(), description: undefined, program: undefined }
      : readAgentDescription(from);
  const controls = new Map(base.controls);
  for (const control of ["model", "perm", "label", "approval"] as const) {
    const value = args.text(control);
    if (value !== undefined) controls.set(control, optionList(control, [value]));
  }
  const tools = args.list("tools").flatMap((text) => (text === "" ? [] : text.split(",")));
  if (args.list("tools").length > 0) controls.set("tools", optionList("tools", tools));
  const mounts = args.list("mount");
  if (mounts.length > 0) controls.set("mount", optionList("mount", mounts.map(mountLine)));
  const system = args.text("system");
  if (system !== undefined) controls.set("system.md", systemText(system));
  const exec = args.text("exec");
  if (exec === undefined) return { ...base, controls };
  const program = openProgram(exec);
  base.program?.close();
  return { ...base, controls, program };
}

/** An option's values are the lines of its control, and their places are the option's. */
function optionList(option: string, values: readonly string[]): Given {
  const place = (line: number): Place => ({ file: `--${option}`, line, column: 1 });
  return listOf(
    values.map((text, index) => ({ text, place: place(index + 1) })),
    place(1),
  );
}

function systemText(path: string): Given {
  let bytes: Uint8Array;
  try {
    const fd = openPath(path, "read");
    try {
      bytes = readWhole(fd, controlBytesMax);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    return unreadable("read", path, error);
  }
  const place = (line: number, column: number) => ({ file: path, line, column });
  try {
    return {
      text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes),
      place,
    };
  } catch {
    return fail("EINVAL", `${JSON.stringify(path)} is not UTF-8 text`);
  }
}

/** Who the agents of the tree belong to. Throws EACCES for a caller who may not make one. */
export function planContext({ tree, places }: Context): PlanContext {
  const owner = treeOwner(tree.source);
  if (owner === undefined) {
    return fail("ENOENT", `tree "${tree.source}" holds no record of who its agents belong to`, {
      hint: `run ctx bootstrap "${tree.source}"`,
    });
  }
  const uid = callerUid();
  if (uid !== 0 && uid !== owner.uid) {
    fail("EACCES", `uid ${uid} cannot change agents that belong to uid ${owner.uid}`, {
      hint: "run it as root, or as the owner",
    });
  }
  const groups = uid === 0 ? [] : supplementaryGroups().filter((gid) => gid !== owner.gid);
  return { tree, places, owner, groups };
}
