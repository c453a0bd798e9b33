// `ctxmcp serve-tool`: what the host starts, in a sandbox of its own, for the calls that one run makes of
// one server's tools. It reads the server's entry, gets the secrets that the entry names, starts the
// server and makes the calls. Everything that the server says is read here and not by the host. When
// the host's end is closed, or the server is gone, it ends, and the sandbox with it.

import { closeSync, fstatSync, openSync } from "node:fs";
import { CodedError, coded, fail, isCoded, quoted } from "../../internal/abi/mod.ts";
import { type OpenServer, openServer } from "../../internal/mcp/mod.ts";
import {
  configBytesMax,
  expandEntry,
  parseMcpConfig,
  type ServerEntry,
  serverEntry,
  variablesOf,
} from "../../internal/mcp-tool/mod.ts";
import {
  decodeHostFrame,
  encodeServe,
  type HostFrame,
  type OpenFrame,
  pieceUnitsMax,
  type ServeFrame,
  serveLineBytesMax,
} from "../../internal/mcp-wire/mod.ts";
import { guardProcess, readWhole } from "../../internal/os/mod.ts";
import { adoptLines, type Connection } from "../../internal/sock/mod.ts";
import { ServedCalls } from "./serve-calls.ts";

/** Queued for the host, which reads as fast as it can. Past it the connection is cut. */
const outboundBytesMax = 64 * 1024 * 1024;

/** How long the host may leave what was queued unread, in milliseconds. */
const outboundStallMs = 60_000;

export async function serveTool(): Promise<number> {
  // The server has this process's uid; the secrets of the next server are none of its business.
  guardProcess();
  const connection = await adoptLines(hostDescriptor(), {
    lineBytesMax: serveLineBytesMax,
    ...{ outboundBytesMax, stallMs: outboundStallMs },
  });
  const stopped = new AbortController();
  void connection.closed.then(() => stopped.abort());
  try {
    const server = await opened(connection, stopped.signal);
    await serve(connection, server);
    return 0;
  } catch (error) {
    const { code, message, hint } = coded(error);
    const said = hint === undefined ? message : `${message} (${hint})`;
    await say(connection, { kind: "failed", code, message: said.slice(0, pieceUnitsMax) });
    if (!isCoded(error)) throw error;
    return 1;
  } finally {
    connection.end();
    await connection.closed;
  }
}

function hostDescriptor(): number {
  try {
    if (fstatSync(0).isSocket()) return 0;
  } catch {
    // It is not open at all.
  }
  return fail("EINVAL", "standard input is not the host's socket", {
    hint: "the host runs this itself; call a tool by hand with ctxmcp call",
  });
}

function say(connection: Connection, frame: ServeFrame): Promise<void> | undefined {
  return connection.send(encodeServe(frame));
}

async function opened(connection: Connection, signal: AbortSignal): Promise<OpenServer> {
  const open = await next(connection, "open");
  const { config, server, root, start_ms } = open;
  const where = `server ${quoted(server)} of ${quoted(config)}`;
  const entry = readEntry(open);
  const variables = variablesOf(entry).map(({ name, field, fallback }) => {
    return { name, field, optional: fallback !== undefined };
  });
  void say(connection, { kind: "entry", entry, variables });
  const { values } = await next(connection, "start");
  const own = new Map(Object.entries(values));
  const expanded = expandEntry(entry, (name) => own.get(name), where);
  const { command, args, env, cwd } = expanded;
  const started = await openServer({
    argv: [command, ...args],
    env: { ...inherited(), ...env },
    cwd: cwd ?? root,
    roots: [{ uri: `file://${encodeURI(root)}`, name: root.split("/").at(-1) || root }],
    signal,
    ...{ startMs: start_ms, label: server },
  });
  void say(connection, { kind: "ready" });
  return started;
}

/** What a program in the agent's sandbox has, without what belongs to this one. */
function inherited(): Record<string, string> {
  const { CTX_TOOL_MODE: _, CTX_CONTROL_SOCKET: _c, ...rest } = process.env;
  return rest as Record<string, string>;
}

function readEntry({ config, server }: OpenFrame): ServerEntry {
  let text: string;
  try {
    const fd = openSync(config, "r");
    try {
      if (!fstatSync(fd).isFile()) fail("EINVAL", `${quoted(config)} is not a file`);
      const bytes = readWhole(fd, configBytesMax + 1);
      text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (error instanceof CodedError) throw error;
    const { code, message } = coded(error);
    return fail(code, `cannot read ${quoted(config)}, which describes the server: ${message}`);
  }
  return serverEntry(parseMcpConfig(text, config), server, config);
}

async function next<K extends HostFrame["kind"]>(
  connection: Connection,
  kind: K,
): Promise<Extract<HostFrame, { kind: K }>> {
  const line = await connection.next();
  if (line === undefined) return fail("ECANCELED", "the host closed the connection");
  const frame = line.ok ? decodeHostFrame(line.line) : undefined;
  if (frame?.kind === kind) return frame as Extract<HostFrame, { kind: K }>;
  return fail("EINVAL", `the host said something else than "${kind}"`);
}

/** Resolves when the host or the server has left. */
async function serve(connection: Connection, server: OpenServer): Promise<void> {
  const calls = new ServedCalls(server, (frame) => say(connection, frame));
  const reading = (async () => {
    for await (const line of connection) {
      const frame = line.ok ? decodeHostFrame(line.line) : undefined;
      if (frame?.kind === "call") calls.begin(frame);
      else if (frame?.kind === "cancel") calls.cancel(frame.id);
      else return;
    }
  })();
  await Promise.race([reading, server.ended]);
  await calls.over();
  await server.close();
}
