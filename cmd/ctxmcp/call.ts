// `ctxmcp call`: one call of a server's tool, by a person who wants to see what it answers.

import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { coded, fail, quoted } from "../../internal/abi/mod.ts";
import { note, parseFlags, print, printJson, printRaw } from "../../internal/cli/mod.ts";
import { SchemaFault, schemaProblem } from "../../internal/json-schema/mod.ts";
import type { CallResult, OpenServer, Progress } from "../../internal/mcp/mod.ts";
import { resultContent, type ToolDefinition } from "../../internal/mcp-tool/mod.ts";
import { openPath, replaceFile } from "../../internal/os/mod.ts";
import { callHelp } from "./help.ts";
import { milliseconds, serverOptions, sharedFlags } from "./options.ts";
import { withServer } from "./with-server.ts";

/** How long a call may take in all, in seconds, when nothing is said. */
const totalDefault = 600;

/** Progress is shown at most this often, in milliseconds. */
const progressMs = 1000;

type Members = Readonly<Record<string, unknown>>;

export async function run(argv: readonly string[]): Promise<number> {
  const flags = parseFlags(argv, { ...sharedFlags, total: "value", keep: "value" });
  if (flags.on.has("help")) {
    printRaw(callHelp);
    return 0;
  }
  const [tool, given, extra] = flags.words;
  if (tool === undefined) {
    fail("EINVAL", "the name of a tool is missing", { hint: "see them with ctxmcp list" });
  }
  if (extra !== undefined) fail("EINVAL", `"ctxmcp call" takes no argument ${quoted(extra)}`);
  const args = readArguments(given);
  const options = serverOptions(flags);
  const totalMs = milliseconds(flags, "total", totalDefault);
  return withServer(options, async ({ server, signal }) => {
    await checkArguments(server, tool, args, signal);
    const onProgress = showProgress();
    const bounds = { signal, idleMs: options.timeoutMs, totalMs, onProgress };
    const result = await server.callTool(tool, args, bounds);
    if (flags.on.has("json")) printJson(result);
    else show(result, flags.value.get("keep"));
    return result.isError ? 1 : 0;
  });
}

function readArguments(given: string | undefined): Members {
  const text = given === "-" ? readFileSync(0, "utf8") : (given ?? "{}");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    fail("EINVAL", `the arguments are not JSON: ${(error as Error).message}`, { cause: error });
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Members;
  return fail("EINVAL", "the arguments are not a JSON object", { hint: `for example '{"a": 1}'` });
}

/** ENOENT for a tool that is not there, EINVAL for arguments that its schema does not take. */
async function checkArguments(
  server: OpenServer,
  name: string,
  args: Members,
  signal: AbortSignal,
): Promise<void> {
  const tools = await server.listTools(signal);
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) {
    return fail("ENOENT", `the server has no tool ${quoted(name)}`, {
      hint: "see its tools with ctxmcp list",
    });
  }
  const problem = await problemOf(tool, args);
  if (problem === undefined) return;
  fail("EINVAL", `the arguments do not fit the schema of tool ${quoted(name)}: ${problem}`, {
    hint: "see the schema with ctxmcp list --json",
  });
}

async function problemOf(tool: ToolDefinition, args: Members): Promise<string | undefined> {
  const { inputSchema: schema } = tool;
  const isObject = typeof schema === "object" && schema !== null && !Array.isArray(schema);
  if (!isObject) return "the schema is not an object";
  try {
    return await schemaProblem(schema as Members, args, "the whole");
  } catch (error) {
    if (error instanceof SchemaFault) return `the schema is malformed: ${error.message}`;
    throw error;
  }
}

function showProgress(): (progress: Progress) => void {
  let last = performance.now();
  return ({ progress, total, message }) => {
    const now = performance.now();
    if (now - last < progressMs) return;
    last = now;
    const of = total === undefined ? "" : ` of ${total}`;
    note(
      `progress ${progress}${of}${message === undefined ? "" : `: ${message.split("\n", 1)[0]}`}`,
    );
  };
}

function show(result: CallResult, folder: string | undefined): void {
  const { content } = resultContent(result, {
    keep: (bytes, mimeType, index) => {
      return folder === undefined ? undefined : keepBytes(folder, bytes, mimeType, index);
    },
  });
  print(content.endsWith("\n") ? content.slice(0, -1) : content);
}

const extensions: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/svg+xml": "svg",
  "audio/wav": "wav",
  "audio/mpeg": "mp3",
  "audio/ogg": "ogg",
  "application/pdf": "pdf",
};

/** Writes them under a name of ours, since the server's words are no name of a file. */
function keepBytes(folder: string, bytes: Uint8Array, mimeType: string, index: number): string {
  const extension = Object.hasOwn(extensions, mimeType) ? extensions[mimeType] : "bin";
  const name = `${String(index).padStart(3, "0")}.${extension}`;
  try {
    mkdirSync(folder, { recursive: true });
    replaceFile(openPath(folder, "folder"), name, bytes);
  } catch (error) {
    const { code, message } = coded(error);
    fail(code, `cannot write ${quoted(join(folder, name))}: ${message}`, { cause: error });
  }
  return join(folder, name);
}
