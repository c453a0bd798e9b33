// The built-in tools as data: what bootstrap writes into `tool/<name>.d/`. The schemas are what a
// model is shown and what a call is checked against, so their texts give units, bounds and defaults.
// A tool that is not served yet is not made: an object that does nothing would be a lie.

import { observationBytesMax, updatableControls, updateContentBytesMax } from "../abi/mod.ts";
import { bash, tmux, tshConfig, zellij } from "./builtin-shell-tools.ts";
import {
  type BuiltinTool,
  builtinOutputBytesMax,
  bytes,
  commandTimeoutMsMax,
  everyone,
  listEntriesMax,
  path,
  schema,
  writers,
} from "./builtin-tool.ts";

const fsRead: BuiltinTool = {
  name: "fs.read",
  served: true,
  description:
    "Read a text file and return its content unchanged. Give a line range (line_start, line_end) or a byte range (offset, limit), not both, to read part of a large file. When the answer does not reach the end of the file it says where it was cut and how to go on.",
  cap: ["read"],
  schema: schema(
    {
      path: path("File to read"),
      offset: bytes("First byte to return, counted from 0. Default 0.", 0),
      limit: {
        type: "integer",
        minimum: 1,
        maximum: builtinOutputBytesMax,
        description: `Most bytes to return, 1 to ${builtinOutputBytesMax}; a character is never split. Default: what one answer holds, somewhat less than ${observationBytesMax}; the host cuts a longer one.`,
      },
      line_start: bytes("First line to return, counted from 1. Default 1.", 1),
      line_end: bytes("Last line to return, itself included. Default: the last line.", 1),
    },
    ["path"],
  ),
  subjects: everyone,
};

const fsList: BuiltinTool = {
  name: "fs.list",
  served: true,
  description:
    "List a folder. The answer is one JSON object a line with the entry's path below it, type, size in bytes, mode and time of the last change. Symlinks are listed, never followed. Use a small depth first and go into what matters.",
  cap: ["read"],
  schema: schema(
    {
      path: path("Folder to list"),
      depth: {
        type: "integer",
        minimum: 1,
        maximum: 32,
        description: "Levels to go down, 1 to 32. Default 1: only the folder's own entries.",
      },
      limit: {
        type: "integer",
        minimum: 1,
        maximum: listEntriesMax,
        description: `Most entries to return, 1 to ${listEntriesMax}; the answer says when there were more. Default 1000, or what one answer holds.`,
      },
    },
    ["path"],
  ),
  subjects: everyone,
};

const fsStat: BuiltinTool = {
  name: "fs.stat",
  served: true,
  description:
    "Tell whether a path exists and what it is. The answer is one JSON object with path, type, size in bytes, mode, owner and time of the last change; of a symlink it is the link itself and its target.",
  cap: ["read"],
  schema: schema({ path: path("File or folder to look at") }, ["path"]),
  subjects: everyone,
};

const fsWrite: BuiltinTool = {
  name: "fs.write",
  served: true,
  description:
    "Create a file or replace the whole of one. Readers see the old content or the new one, never a part, and an existing file keeps its mode. To change some lines of a file use fs.replace instead: it is shorter and cannot lose the rest.",
  cap: ["write"],
  schema: schema(
    {
      path: path("File to write"),
      content: {
        type: "string",
        description: "The complete new content as text, written as UTF-8 exactly as given.",
      },
      create_dirs: {
        type: "boolean",
        description:
          "Make missing folders above the file. Default false: a missing one is an error.",
      },
    },
    ["path", "content"],
  ),
  subjects: writers,
};

const fsReplace: BuiltinTool = {
  name: "fs.replace",
  served: true,
  description:
    "Edit a text file by exact match: every occurrence of old becomes new. Nothing is written unless old occurs exactly as often as expected (once, or count times), so give enough surrounding text to make it unique. White space and line ends must match; read the file first.",
  cap: ["read", "write"],
  schema: schema(
    {
      path: path("File to edit"),
      old: { type: "string", minLength: 1, description: "Text to find, matched byte for byte." },
      new: { type: "string", description: "Text to put in its place; empty to delete it." },
      count: {
        type: "integer",
        minimum: 1,
        maximum: 1_000_000,
        description: "How often old must occur, 1 to 1000000; all of them are replaced. Default 1.",
      },
    },
    ["path", "old", "new"],
  ),
  subjects: writers,
};

const shellExec: BuiltinTool = {
  name: "shell.exec",
  served: true,
  description:
    "Run a command in the agent's sandbox and return its output and exit code. A string is run by /bin/sh -c; an array is run as a program with its arguments, with no shell between. Each call is a new process: the current folder and variables of an earlier one are gone, and whatever it left running is stopped when it ends. No input can be typed, and there is no network unless it was granted.",
  cap: ["read", "write", "exec"],
  schema: schema(
    {
      cmd: {
        anyOf: [
          { type: "string", minLength: 1 },
          { type: "array", items: { type: "string" }, minItems: 1, maxItems: 4096 },
        ],
        description: 'A shell command line, or the program and its arguments, e.g. ["ls","-l"].',
      },
      cwd: path("Folder to run in; the agent's current folder when absent. A folder"),
      timeout_ms: {
        type: "integer",
        minimum: 1,
        maximum: commandTimeoutMsMax,
        description: `Milliseconds until the command and all it started are stopped, 1 to ${commandTimeoutMsMax}. Default: the time allowed for one call by the host.`,
      },
      separate: {
        type: "boolean",
        description:
          "Return standard output and standard error apart. Default false: both in one text, in the order they were written.",
      },
    },
    ["cmd"],
  ),
  subjects: writers,
};

const tsh: BuiltinTool = {
  name: "tsh",
  served: true,
  description:
    "Run a CortexFS tool by its name. This reaches every tool that is visible to you, also those that are not offered as functions of their own. It is no host shell: only tools found through CTX_PATH run, and each call is checked by the same policy.",
  cap: ["exec"],
  schema: schema(
    {
      args: {
        type: "array",
        items: { type: "string" },
        minItems: 1,
        maxItems: 256,
        description:
          'The tool\'s name, then its arguments as text. A tool that takes structured input takes one JSON object: ["fs.read","{\\"path\\":\\"README.md\\"}"].',
      },
    },
    ["args"],
  ),
  subjects: everyone,
};

const agentUpdate: BuiltinTool = {
  name: "agent.update",
  served: true,
  description:
    "Replace one of your own prompt texts, whole, from the next run on. system.md holds your instructions, prompt.template.md the frame around them with its {{variables}}. Read the current text in your control folder first and keep what still holds. It changes what you are told, never what you may do.",
  cap: ["write"],
  schema: schema(
    {
      control: {
        type: "string",
        enum: updatableControls,
        description: "Which text to replace.",
      },
      content: {
        type: "string",
        maxLength: updateContentBytesMax,
        description: `The whole new text, UTF-8 without NUL, at most ${updateContentBytesMax} bytes.`,
      },
    },
    ["control", "content"],
  ),
  subjects: everyone,
};

/** Named by the ABI, not served by this version: what each still needs is in its own issue. */
const later: readonly string[] = ["agent.create", "agent.start", "agent.stop"];

export const builtinTools: readonly BuiltinTool[] = [
  fsRead,
  fsList,
  fsStat,
  fsWrite,
  fsReplace,
  shellExec,
  tsh,
  agentUpdate,
  bash,
  tmux,
  zellij,
  tshConfig,
  ...later.map((name) => ({
    name,
    served: false,
    description: "",
    cap: [],
    schema: {},
    subjects: [],
  })),
];

export const servedTools: readonly BuiltinTool[] = builtinTools.filter((tool) => tool.served);

/** Those of them that bootstrap makes on a host that has these programs. */
export function toolsOnHost(programs: readonly string[]): readonly BuiltinTool[] {
  return servedTools.filter(({ program }) => program === undefined || programs.includes(program));
}

export function isBuiltinTool(name: string): boolean {
  return servedTools.some((tool) => tool.name === name);
}
