// The object runner: `ctx exec OBJECT [INPUT…]`, which the kernel starts for the first line of every
// built-in object. Class and name come from the object's path. This is the start-up path of every
// tool call, so it imports nothing that a file tool does not need.

import { closeSync, constants, openSync, readFileSync, readSync } from "node:fs";
import { fail } from "../../internal/abi/mod.ts";
import { isBuiltinName } from "../../internal/builtin/mod.ts";
import { isTerminal, printRaw } from "../../internal/cli/mod.ts";
import type { RunCommands } from "./command.ts";
import { runFileTool, runNative } from "./exec-file-tool.ts";
import { readInput, toolInputBytesMax } from "./exec-input.ts";

const help = `Usage: ctx exec OBJECT [INPUT...]

Runs an object of the tree: a tool, an agent or a model, named by its path. The first line of
every built-in object does this, so normally the object itself is executed.

With CTX_TOOL_MODE=native a tool reads one JSON object from standard input and answers with one
line of JSON; otherwise it takes a JSON object or plain words and prints text.

A model takes the prompt from INPUT, or from standard input as text or {"messages":[…]}, and prints
JSON frames. In an agent's sandbox the host makes the call.

Outside an agent's sandbox the only tools that run are fs.read, fs.list, fs.stat and tsh.config.
There /ctx is the folder of the tree, and ctx which prints an object's path.

Examples:
  ctx exec "$(ctx which tool fs.read)" README.md
  ctx exec "$(ctx which tool fs.list)" '{"path":"src","depth":2}'
  ctx exec "$(ctx which agent coder)" "What changed last?"
  ctx exec "$(ctx which model debug/echo)" "Hello"
`;

const objectHint = 'name an object by its path, for example "$(ctx which tool fs.read)"';

/** Tools that a person may run directly: they do no more than that person's own rights allow. */
const safeCore: readonly string[] = ["fs.read", "fs.list", "fs.stat", "tsh.config"];

/** Tools that are programs of the host by their own names. */
const hostPrograms: readonly string[] = ["bash", "tmux", "zellij"];

export interface ObjectName {
  readonly class: "tool" | "agent" | "model";
  readonly name: string;
}

/** Class and name from `…/tool/NAME`, `…/agent/NAME`, `…/model/P/M` or an alias `…/model/NAME`. */
export function objectOf(path: string): ObjectName | undefined {
  const parts = path.split("/");
  const [above, folder, name] = parts.slice(-3);
  if (name === undefined || name === "") return undefined;
  if (above === "model") return { class: "model", name: `${folder}/${name}` };
  if (folder === "tool" || folder === "agent" || folder === "model") return { class: folder, name };
  return undefined;
}

/** What the runner leaves to pieces of the program that no tool call loads. */
export interface Beyond {
  /** Runs a command line of ctx; an agent object is chat or send by another name. */
  readonly commands: RunCommands;
  model(path: string, name: string, input: readonly string[]): Promise<number>;
}

export async function run(argv: readonly string[], beyond: Beyond): Promise<number> {
  const [path, ...input] = argv.slice(1);
  if (path === undefined || path === "--help" || path === "-h") {
    printRaw(help);
    return path === undefined ? 2 : 0;
  }
  if (path === "-") return runAwaited();
  const full = path.startsWith("/") ? path : `${process.cwd()}/${path}`;
  const object = objectOf(full);
  if (object === undefined) {
    return fail("EINVAL", `${JSON.stringify(path)} is not the path of an object`, {
      hint: objectHint,
    });
  }
  const metadata = requireRunnerLine(path);
  if (object.class === "agent") return runAgent(object.name, input, beyond.commands);
  if (object.class === "model") return beyond.model(full, object.name, input);
  return runTool(full, object.name, input, /^# mcp-definition: /m.test(metadata));
}

/**
 * `ctx exec -`, for a launcher that starts the runner before it knows the call: the first line of
 * standard input is the tool's path, the run and its session, the rest its native input. Nothing at all means no
 * call came.
 */
async function runAwaited(): Promise<number> {
  const text = readInput(toolInputBytesMax);
  if (text === "") return 0;
  const cut = text.indexOf("\n");
  const [path = "", run, session] = text.slice(0, Math.max(cut, 0)).split(" ");
  if (run !== undefined) process.env["CTX_RUN_ID"] = run;
  if (session !== undefined) process.env["CTX_SESSION"] = session;
  const object = objectOf(path);
  const name = object?.class === "tool" && insideSandbox() ? object.name : "";
  const input = () => text.slice(cut + 1);
  if (isBuiltinName(name)) {
    requireRunnerLine(path);
    return runNative(name, input);
  }
  if (name === "agent.update") {
    requireRunnerLine(path);
    return (await import("./exec-update.ts")).updateNative(input);
  }
  if (name === "tsh.config") {
    requireRunnerLine(path);
    return (await import("./exec-config.ts")).configNative(path, input);
  }
  if (hostPrograms.includes(name)) {
    requireRunnerLine(path);
    return (await import("./exec-program.ts")).programNative(name, input);
  }
  return fail("EINVAL", `cannot run ${JSON.stringify(path)}: it is no built-in tool of a sandbox`);
}

/**
 * The rest of the object's head, after the line that runs this. Throws ENOENT, EACCES or EINVAL for a
 * path that is no such object.
 */
function requireRunnerLine(path: string): string {
  const head = new Uint8Array(512);
  const fd = openObject(path);
  let length: number;
  try {
    length = readSync(fd, head);
  } finally {
    closeSync(fd);
  }
  const text = new TextDecoder().decode(head.subarray(0, length));
  const line = text.split("\n", 1)[0] ?? "";
  if (/^#!\S*\/ctx exec$/.test(line)) return text.slice(line.length);
  return fail("EINVAL", `${JSON.stringify(path)} is not a built-in object`, {
    hint: "its first line would run ctx exec; run other programs directly",
  });
}

function openObject(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ENOENT") throw error;
    return fail("ENOENT", `object ${JSON.stringify(path)} does not exist`, { hint: objectHint });
  }
}

async function runTool(
  path: string,
  name: string,
  input: readonly string[],
  served: boolean,
): Promise<number> {
  if (!insideSandbox() && !safeCore.includes(name)) {
    return fail("EACCES", `cannot run tool "${name}": it runs only for an agent, in its sandbox`, {
      hint: `ask an agent with ctx agent send; a person may run ${safeCore.join(", ")}`,
    });
  }
  if (isBuiltinName(name)) return runFileTool(name, input);
  if (name === "agent.update") return (await import("./exec-update.ts")).runUpdate(input);
  if (name === "tsh.config") return (await import("./exec-config.ts")).runConfig(path, input);
  if (served) return (await import("./exec-served.ts")).runServed(path, name, input);
  const { runProgramTool } = await import("./exec-program.ts");
  return runProgramTool(name, input);
}

/**
 * Whether this process is in a sandbox of ours. Not a boundary: whoever fakes it on a host only
 * runs a file tool with their own rights. It keeps people from taking a tool for a command.
 */
function insideSandbox(): boolean {
  if (!process.env["CTX_AGENT"] || process.env["CTX_ROOT"] !== "/ctx") return false;
  try {
    return readFileSync("/proc/sys/kernel/hostname", "utf8") === "cortexfs\n";
  } catch {
    return false;
  }
}

function runAgent(name: string, input: readonly string[], commands: RunCommands): Promise<number> {
  const chat = input.length === 0 && isTerminal(0);
  return commands(chat ? ["agent", "chat", name] : ["agent", "send", name, "--", ...input]);
}
