// Opens the server that the options name, does something with it, and ends it with all that it
// started, also when a signal comes. A server gets a few variables of the person's environment beside
// those of its entry; what else the person has there may be secret.

import { readFileSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { CodedError, fail, isCoded, quoted } from "../../internal/abi/mod.ts";
import { note, onInterrupt, unreadable } from "../../internal/cli/mod.ts";
import { adoptOrphans, type OpenServer, openServer } from "../../internal/mcp/mod.ts";
import {
  configBytesMax,
  expandEntry,
  parseMcpConfig,
  type ServerEntry,
  serverEntry,
} from "../../internal/mcp-tool/mod.ts";
import type { ServerOptions } from "./options.ts";
import { ServerLog } from "./server-log.ts";

/** What a server may see of the person's environment: where things are and how text is shown. */
const inherited = /^(?:PATH|HOME|USER|LOGNAME|SHELL|TERM|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR)$/;

/** How long a wait for a server is before it is mentioned, in milliseconds. */
const slowMs = 5000;

export interface Connected {
  /** The name in the configuration. */
  readonly name: string;
  readonly entry: ServerEntry;
  readonly server: OpenServer;
  readonly signal: AbortSignal;
}

/** What `use` answers, once the server is gone. */
export async function withServer<T>(
  options: ServerOptions,
  use: (connected: Connected) => Promise<T>,
): Promise<T> {
  const { name, entry } = readEntry(options);
  const expanded = expandedEntry(options.config, name, entry);
  const stop = new AbortController();
  const cancel = () => stop.abort();
  const forget = onInterrupt(cancel);
  process.on("SIGTERM", cancel);
  process.on("SIGHUP", cancel);
  const log = new ServerLog(options.log);
  adoptOrphans();
  const slow = setTimeout(() => note(`waiting for MCP server ${quoted(name)}`), slowMs);
  try {
    const server = await openServer({
      argv: [expanded.command, ...expanded.args],
      env: { ...personEnvironment(), ...expanded.env },
      cwd: expanded.cwd ?? process.cwd(),
      roots: rootsOf(options.workspace),
      signal: stop.signal,
      startMs: options.timeoutMs,
      pageMs: options.timeoutMs,
      label: name,
      onLog: (line) => log.add(line),
    });
    try {
      return await use({ name, entry, server, signal: stop.signal });
    } finally {
      clearTimeout(slow);
      await server.close();
    }
  } catch (error) {
    if (isCoded(error) && error.code !== "ECANCELED") log.show();
    throw error;
  } finally {
    clearTimeout(slow);
    forget();
  }
}

function readEntry({ config, server }: ServerOptions): { name: string; entry: ServerEntry } {
  const servers = parseMcpConfig(readConfig(config), config);
  const [only, another] = [...servers.keys()];
  const name = server ?? (another === undefined ? only : undefined);
  if (name !== undefined) return { name, entry: serverEntry(servers, name, config) };
  return fail("EINVAL", "--server is missing", {
    hint: `${quoted(config)} has ${[...servers.keys()].map(quoted).join(", ") || "no servers"}`,
  });
}

function readConfig(file: string): string {
  let bytes: Uint8Array;
  try {
    const facts = statSync(file);
    if (facts.isFile() && facts.size > configBytesMax) {
      fail("EMSGSIZE", `cannot read ${quoted(file)}: it is larger than ${configBytesMax} bytes`);
    }
    bytes = readFileSync(file);
  } catch (error) {
    return unreadable("read", file, error);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return fail("EINVAL", `cannot read ${quoted(file)}: it is not UTF-8 text`);
  }
}

function expandedEntry(config: string, name: string, entry: ServerEntry): ServerEntry {
  const where = `server ${quoted(name)} of ${quoted(config)}`;
  try {
    return expandEntry(entry, (variable) => process.env[variable], where);
  } catch (error) {
    if (!isCoded(error) || !error.message.includes("which is not set")) throw error;
    const hint = `${error.hint}; here it is taken from your environment`;
    throw new CodedError(error.code, error.message, { hint, cause: error });
  }
}

function personEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(([name]) => inherited.test(name));
  return Object.fromEntries(entries as [string, string][]);
}

function rootsOf(workspace: string | undefined) {
  if (workspace === undefined) return [];
  const folder = resolve(workspace);
  return [{ uri: pathToFileURL(folder).href, name: basename(folder) || "/" }];
}
