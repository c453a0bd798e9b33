// Whether a tool may run is the host's to say, each time anew, over the socket of the agent's terminal.
// Outside of one there is nobody to ask, so nothing runs.

import { readFileSync } from "node:fs";
import { type CodedError, codes, fail, isCode } from "../../internal/abi/mod.ts";
import {
  capabilityLineBytesMax,
  decodeCapabilityAnswer,
  encodeCapability,
} from "../../internal/capability/mod.ts";
import { type Connection, connectLines } from "../../internal/sock/mod.ts";

/** The socket of the terminal that this process is in; undefined outside of an agent's sandbox. */
export function terminalSocket(): string | undefined {
  const path = process.env["CTX_CONTROL_SOCKET"];
  if (!path || !process.env["CTX_AGENT"] || process.env["CTX_ROOT"] !== "/ctx") return undefined;
  return isSandbox() ? path : undefined;
}

/** No boundary: whoever fakes a sandbox on a host runs things with their own rights there. */
function isSandbox(): boolean {
  try {
    return readFileSync("/proc/sys/kernel/hostname", "utf8") === "cortexfs\n";
  } catch {
    return false;
  }
}

/** Throws EACCES outside of an agent's terminal; the socket else. */
export function requireTerminal(name: string): string {
  return (
    terminalSocket() ??
    fail("EACCES", `cannot run tool "${name}": this is not an agent's terminal`, {
      hint: `ask an agent with ctx agent send, or look at the tool with tsh help ${name}`,
    })
  );
}

export function connectHost(path: string): Promise<Connection> {
  return connectLines({
    path,
    servers: "any",
    lineBytesMax: capabilityLineBytesMax,
    hint: "the server of this terminal does not answer; it restarts, or ctx agent send starts it",
  });
}

/**
 * Resolves with the tool's path in the view when it may run now. Throws what refuses it: EACCES for a
 * layer of authority, EHOSTDOWN when nobody answers, ECANCELED when the person does not wait.
 */
export async function authorize(
  socket: string,
  name: string,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<string | undefined> {
  const connection = await connectHost(socket);
  const stop = () => connection.destroy();
  signal?.addEventListener("abort", stop);
  try {
    if (signal?.aborted) stop();
    const request_id = crypto.randomUUID();
    await connection.send(encodeCapability({ op: "tool.authorize", request_id, name, args }));
    const line = await connection.next();
    if (signal?.aborted) fail("ECANCELED", `tool "${name}" was not run`);
    if (line === undefined) fail("EHOSTDOWN", "the host closed the connection before it answered");
    if (!line.ok) fail(line.code, `the host sent a broken answer: ${line.reason}`);
    return allowedPath(line.line, name);
  } finally {
    signal?.removeEventListener("abort", stop);
    connection.destroy();
  }
}

function allowedPath(line: string, name: string): string | undefined {
  const decoded = decodeCapabilityAnswer(line);
  if (!decoded.ok) return fail("EIO", `the host sent a broken answer: ${decoded.message}`);
  const { answer } = decoded;
  if (!("ok" in answer)) return fail("EIO", "the host sent another answer than was asked for");
  const { decision } = answer;
  if (answer.ok && decision?.allowed !== false) return decision?.path;
  const denied = decision?.layers.find((layer) => !layer.allowed);
  const at = denied?.at === undefined ? "" : ` (${denied.at})`;
  const said = answer.ok ? "" : answer.message;
  const because = denied === undefined ? said : `${denied.because}${at}`;
  const code = answer.ok ? "EACCES" : codeOf(answer.code);
  const hint = refusalHint(code, name);
  return fail(code, `cannot run tool "${name}": ${because || codes[code].meaning}`, hint);
}

/** Where to go on from a refusal: most who meet the first type the name of a host's program. */
function refusalHint(code: CodedError["code"], name: string): { hint?: string } {
  if (code === "ENOENT") {
    return {
      hint: `tools lists what runs here; shell.exec '${name}' runs a program of the system`,
    };
  }
  const agent = process.env["CTX_AGENT"];
  if (code !== "EACCES" || !agent) return {};
  return { hint: `on the host, see ctx policy explain ${agent} tool:${name} execute` };
}

/** A code that this build does not know is a failure of the host all the same. */
function codeOf(code: string): CodedError["code"] {
  return isCode(code) ? code : "EIO";
}
