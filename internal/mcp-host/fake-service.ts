// A host's launcher whose services are functions of the test: each gets the other end of the wire.

import type { LaunchRequest, RunningService, ServiceRequest } from "../launch/mod.ts";
import { decodeHostFrame, encodeServe, type HostFrame, type ServeFrame } from "../mcp-wire/mod.ts";
import { streamPair } from "../os/mod.ts";
import { adoptLines, type Connection } from "../sock/mod.ts";
import type { ToolServersOptions } from "./types.ts";

export class FakePeer {
  readonly connection: Connection;
  ended = false;
  readonly #exit = Promise.withResolvers<number>();

  constructor(connection: Connection) {
    this.connection = connection;
    void connection.closed.then(() => this.#exit.resolve(0));
  }

  get exited(): Promise<number> {
    return this.#exit.promise;
  }

  async next(): Promise<HostFrame | undefined> {
    const line = await this.connection.next();
    return line?.ok ? decodeHostFrame(line.line) : undefined;
  }

  say(...frames: ServeFrame[]): void {
    for (const frame of frames) void this.connection.send(encodeServe(frame));
  }

  raw(line: string): void {
    void this.connection.send(line);
  }

  die(): void {
    this.connection.destroy();
  }

  /** What serve-tool does until its server is ready. */
  async open(env: Record<string, string> = {}, variables = namedIn(env)): Promise<HostFrame[]> {
    const open = await this.next();
    const entry = { command: "/usr/bin/server", args: [], env };
    this.say({ kind: "entry", entry, variables });
    const start = await this.next();
    this.say({ kind: "ready" });
    return [open, start].filter((frame) => frame !== undefined);
  }
}

const namedIn = (env: Record<string, string>) =>
  Object.entries(env).flatMap(([key, value]) =>
    [...value.matchAll(/\$\{(\w+)\}/g)].map(([, name = ""]) => {
      return { name, field: `env.${key}`, optional: false };
    }),
  );

export class FakeLauncher {
  readonly started: ServiceRequest[] = [];
  readonly peers: FakePeer[] = [];
  readonly #serve: (peer: FakePeer) => Promise<void>;

  constructor(serve: (peer: FakePeer) => Promise<void>) {
    this.#serve = serve;
  }

  get launcher(): ToolServersOptions["launcher"] {
    return {
      examine: () => ({ cwd: "/workspace", parts: {} as never }),
      serviceFolder: () => "/workspace",
      startService: async (request, signal) => {
        signal.throwIfAborted();
        this.started.push(request);
        return this.#start(request);
      },
    };
  }

  async #start({ lineBytesMax }: ServiceRequest): Promise<RunningService> {
    const [one, two] = streamPair();
    const connection = await adoptLines(one, { lineBytesMax });
    const peer = new FakePeer(await adoptLines(two, { lineBytesMax }));
    this.peers.push(peer);
    void this.#serve(peer);
    return {
      connection,
      exited: peer.exited,
      stderr: () => "",
      newGit: () => [],
      async end() {
        peer.ended = true;
        connection.destroy();
        peer.die();
      },
    };
  }
}

/** A call of a tool of the server "memory" for the agent "coder". */
export function callRequest(change: Partial<LaunchRequest> = {}): LaunchRequest {
  const mcp = { transport: "stdio", config: "/workspace/.mcp.json", server: "memory", tool: "add" };
  return {
    ...{ agent: "coder", session: "default", run: "run-1", scope: { kind: "private" } },
    controls: { mount: [], groups: [], env: new Map(), path: [], label: { type: "coder_t" } },
    ...{ home: "/home", args: { n: 1 }, network: false, visible: [], models: [], timeoutMs: 5000 },
    tool: {
      ...{ name: "memory.add", viewPath: "/ctx/tool/memory.add", hostPath: "", builtin: false },
      ...{ description: "Adds", schema: {}, cap: [], policy: undefined, policyFile: "", mcp },
    },
    ...change,
  } as unknown as LaunchRequest;
}
