// The runtime configuration: the `mcpServers` object that MCP clients share. A file may hold servers
// that we cannot start (they are on the network, say) beside those that we can, so what is wrong with
// one entry is said when that entry is asked for; what is wrong with the file is said at once.

import { CodedError, fail, quoted, quotedCharactersMax } from "../abi/mod.ts";
import { parseJsonDocument } from "../control/mod.ts";
import { configBytesMax, serversMax } from "./bounds.ts";
import { locate } from "./locate.ts";
import { variableFault } from "./variables.ts";

/** How a server is started. Every text is a template: `${VAR}` in it is not expanded yet. */
export interface ServerEntry {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** The entries that can be used, by name; `serverEntry` knows why another cannot. */
class Servers extends Map<string, ServerEntry> {
  readonly faults = new Map<string, CodedError>();
}

/**
 * Throws EINVAL with file, line and column for a text that is no JSON or has no servers, EMSGSIZE
 * past `configBytesMax`. Members of an entry that other clients put there are ignored.
 */
export function parseMcpConfig(text: string, file: string): ReadonlyMap<string, ServerEntry> {
  if (text.length > configBytesMax || new TextEncoder().encode(text).length > configBytesMax) {
    const bound = `a configuration holds at most ${configBytesMax} bytes`;
    fail("EMSGSIZE", `cannot read ${quoted(file)}: ${bound}`);
  }
  const json = text.startsWith("\ufeff") ? text.slice(1) : text;
  const parsed = parseJsonDocument(json);
  if (!parsed.ok) {
    const { line, column, reason } = parsed;
    const place = { file, line, column };
    return fail("EINVAL", `${file}:${line}:${column}: ${reason}`, { place });
  }
  const reader = new Reader(json, file);
  const servers = new Servers();
  for (const [name, value] of reader.servers(parsed.value)) {
    try {
      servers.set(name, reader.entry(name, value));
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
      servers.faults.set(name, error);
    }
  }
  return servers;
}

/** Throws what is wrong with the entry, or ENOENT naming the servers that the file has. */
export function serverEntry(
  servers: ReadonlyMap<string, ServerEntry>,
  name: string,
  file: string,
): ServerEntry {
  const entry = servers.get(name);
  if (entry !== undefined) return entry;
  const faults = servers instanceof Servers ? servers.faults : new Map<string, CodedError>();
  const fault = faults.get(name);
  if (fault !== undefined) throw fault;
  const names = [...servers.keys(), ...faults.keys()].sort().slice(0, quotedCharactersMax);
  return fail("ENOENT", `no server ${quoted(name)} in ${quoted(file)}`, {
    hint: names.length === 0 ? "it has no servers" : `it has ${names.map(quoted).join(", ")}`,
  });
}

type Path = readonly (string | number)[];
type Members = Readonly<Record<string, unknown>>;

const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Turns the parsed value into entries; the text is kept for the place of what is wrong. */
class Reader {
  private readonly json: string;
  private readonly file: string;

  constructor(json: string, file: string) {
    this.json = json;
    this.file = file;
  }

  servers(value: Members): [string, unknown][] {
    if (!Object.hasOwn(value, "mcpServers")) {
      const hint = 'servers stand in {"mcpServers":{"NAME":{"command":"…"}}}';
      return this.refuse([], 'member "mcpServers" is missing', hint);
    }
    const servers = value["mcpServers"];
    if (!isMembers(servers)) return this.refuse(["mcpServers"], '"mcpServers" is not an object');
    const entries = Object.entries(servers);
    if (entries.length <= serversMax) return entries;
    const reason = `${entries.length} servers, a configuration holds at most ${serversMax}`;
    return this.refuse(["mcpServers"], reason);
  }

  entry(name: string, value: unknown): ServerEntry {
    const at: Path = ["mcpServers", name];
    if (!isMembers(value)) return this.wrong(at, "entry is not an object");
    this.transport(at, value);
    if (!Object.hasOwn(value, "command")) return this.wrong(at, "command is missing");
    const command = this.text([...at, "command"], value["command"]);
    const commandFault = commandFaultOf(command);
    if (commandFault !== undefined) this.wrong([...at, "command"], commandFault);
    const args = this.list([...at, "args"], own(value, "args") ?? []);
    const env = this.record([...at, "env"], own(value, "env") ?? {});
    const cwd = own(value, "cwd");
    if (cwd === undefined || cwd === null) return { command, args, env };
    const folder = this.text([...at, "cwd"], cwd);
    if (!/^(?:\/|\$\{)/.test(folder)) {
      this.wrong([...at, "cwd"], `cwd ${quoted(folder)} is not an absolute path`);
    }
    return { command, args, env, cwd: folder };
  }

  private transport(at: Path, value: Members): void {
    for (const key of ["type", "transport"]) {
      const kind = own(value, key);
      if (kind === undefined || kind === "stdio") continue;
      const path = [...at, key];
      if (typeof kind !== "string") this.wrong(path, `${key} is not a text`);
      if (/^(?:sse|ws|websocket|.*http.*)$/.test(kind)) {
        this.wrong(path, `transport ${quoted(kind)} is not supported: only stdio servers are`);
      }
      this.wrong(path, `transport ${quoted(kind)} is unknown: only stdio servers are supported`);
    }
    for (const key of ["url", "serverUrl", "httpUrl"]) {
      if (own(value, key) === undefined) continue;
      this.wrong([...at, key], `${key} is not supported: only stdio servers are`);
    }
  }

  private list(path: Path, value: unknown): string[] {
    if (!Array.isArray(value)) return this.wrong(path, `${path.at(-1)} is not a list`);
    return value.map((one, index) => this.text([...path, index], one, "empty"));
  }

  private record(path: Path, value: unknown): Record<string, string> {
    if (!isMembers(value)) return this.wrong(path, `${path.at(-1)} is not an object`);
    // Own properties whatever they are called, "__proto__" too.
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => {
        const at = [...path, name];
        if (name === "" || /[=\0]/.test(name)) {
          this.wrong(at, `${quoted(name)} is no name of a variable`);
        }
        return [name, this.text(at, one, "empty")];
      }),
    );
  }

  private text(path: Path, value: unknown, may?: "empty"): string {
    const field = fieldName(path);
    if (typeof value !== "string") return this.wrong(path, `${field} is not a text`);
    if (value === "" && may !== "empty") return this.wrong(path, `${field} is empty`);
    if (value.includes("\0")) return this.wrong(path, `${field} holds a NUL character`);
    const fault = variableFault(value);
    return fault === undefined ? value : this.wrong(path, `${field}: ${fault}`);
  }

  /** What is wrong with one server, which the message names. */
  private wrong(path: Path, reason: string): never {
    return this.refuse(path, `server ${quoted(String(path[1]))}: ${reason}`);
  }

  private refuse(path: Path, reason: string, hint?: string): never {
    const place = { file: this.file, ...locate(this.json, path) };
    const at = `${this.file}:${place.line}:${place.column}`;
    return fail("EINVAL", `${at}: ${reason}`, { place, ...(hint !== undefined && { hint }) });
  }
}

const own = (value: Members, name: string): unknown =>
  Object.hasOwn(value, name) ? value[name] : undefined;

/** `["mcpServers","x","args",1]` is read as `args[1]`. */
function fieldName(path: Path): string {
  return path
    .slice(2)
    .map((part, index) =>
      typeof part === "number" ? `[${part}]` : `${index > 0 ? "." : ""}${part}`,
    )
    .join("");
}

/** A bare word is looked up where the server runs; what starts with a variable is seen later. */
export function commandFaultOf(command: string): string | undefined {
  if (!command.includes("/") || /^(?:\/|\$\{)/.test(command)) return undefined;
  return `command ${quoted(command)} is relative: use an absolute path or a bare name`;
}
