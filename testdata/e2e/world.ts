// A throw-away world for end-to-end tests: its own tree, runtime, configuration, secrets, workspace
// and model server, driven through the compiled binaries as a person or a foreign client would. As
// root everything is given to an unprivileged uid; a test may ask for another shape. Nothing here
// imports the product, so that a test cannot agree with a bug.

import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { join, resolve } from "node:path";

export const dist = resolve(import.meta.dir, "../../dist");
export const isRoot = process.getuid?.() === 0;

/** As root a uid of its own for each world, so that leftovers can be told by their uid. */
let nextUid = 62_000 + (process.pid % 3000);

export interface Frame {
  type: string;
  id: string;
  seq?: number;
  run?: string;
  [field: string]: unknown;
}

export interface Finished {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

export class World {
  readonly base: string;
  readonly dist = dist;
  readonly source: string;
  readonly workspace: string;
  /** Owner of the tree and of all that runs for it. */
  readonly uid: number;
  readonly env: Record<string, string>;
  #server: ReturnType<typeof Bun.spawn> | undefined;

  constructor() {
    this.uid = isRoot ? nextUid++ : (process.getuid?.() ?? 0);
    this.base = mkdtempSync("/tmp/ctx-e2e-");
    chmodSync(this.base, 0o755);
    this.source = join(this.base, "current");
    this.workspace = join(this.base, "work");
    for (const name of ["current", "work", "run", "config", "secrets", "home"]) {
      mkdirSync(join(this.base, name), { mode: name === "secrets" ? 0o700 : 0o755 });
    }
    chmodSync(join(this.base, "run"), isRoot ? 0o755 : 0o700);
    if (isRoot) chownSync(this.workspace, this.uid, this.uid);
    this.env = {
      PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
      HOME: join(this.base, "home"),
      LANG: "C.UTF-8",
      CTX_SOURCE: this.source,
      CTX_RUNTIME_DIR: join(this.base, "run"),
      CTX_CONFIG_DIR: join(this.base, "config"),
      CTX_SECRETS_DIR: join(this.base, "secrets"),
    };
  }

  /** Runs a compiled binary to its end; kills it after `ms`. */
  async run(
    argv: readonly string[],
    options: { input?: string; env?: Record<string, string>; cwd?: string; ms?: number } = {},
  ): Promise<Finished> {
    const [program, ...rest] = argv;
    const child = Bun.spawn([join(dist, program as string), ...rest], {
      cwd: options.cwd ?? this.workspace,
      env: { ...this.env, ...options.env },
      stdin: options.input === undefined ? "ignore" : new TextEncoder().encode(options.input),
      stdout: "pipe",
      stderr: "pipe",
    });
    const timer = setTimeout(() => child.kill("SIGKILL"), options.ms ?? 60_000);
    const [stdout, stderr, exit] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    clearTimeout(timer);
    return { exit, stdout, stderr };
  }

  async bootstrap(): Promise<void> {
    const owner = isRoot ? ["--owner", String(this.uid)] : [];
    const done = await this.run(["ctx", "bootstrap", this.source, ...owner]);
    if (done.exit !== 0) throw new Error(`bootstrap failed: ${done.stdout}${done.stderr}`);
  }

  /** Starts ctxd in the foreground and resolves once it says that it is ready. */
  async serve(args: readonly string[] = [], env: Record<string, string> = {}): Promise<number> {
    const log = Bun.file(join(this.base, "ctxd.log"));
    const child = Bun.spawn([join(dist, "ctxd"), "serve", "--source", this.source, ...args], {
      cwd: "/",
      env: { ...this.env, ...env, CTXD_READY_FD: "3" },
      stdio: ["ignore", log, log, "pipe"],
    });
    this.#server = child;
    const ready = await new Response(Bun.file(child.stdio[3] as number).stream()).text();
    const answer = JSON.parse(ready || "{}") as { ok?: boolean; message?: string };
    if (answer.ok !== true) throw new Error(`ctxd did not start: ${ready}${await this.log()}`);
    return child.pid;
  }

  async log(): Promise<string> {
    const file = join(this.base, "ctxd.log");
    return existsSync(file) ? readFileSync(file, "utf8") : "";
  }

  get serverPid(): number {
    return this.#server?.pid ?? 0;
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number> {
    const child = this.#server;
    if (!child) return 0;
    this.#server = undefined;
    child.kill(signal);
    return await child.exited;
  }

  sessionFolder(session: string, agent = "coder"): string {
    return join(this.source, "home", String(this.uid), "agent", agent, "session", session);
  }

  events(session: string, agent = "coder"): Record<string, unknown>[] {
    const text = readFileSync(join(this.sessionFolder(session, agent), "events.jsonl"), "utf8");
    return lines(text);
  }

  messages(session: string, agent = "coder"): Record<string, unknown>[] {
    const text = readFileSync(join(this.sessionFolder(session, agent), "messages.jsonl"), "utf8");
    return lines(text);
  }

  async destroy(): Promise<void> {
    await this.stop("SIGKILL");
    rmSync(this.base, { recursive: true, force: true });
  }
}

function lines(text: string): Record<string, unknown>[] {
  if (!text.endsWith("\n")) throw new Error("the log does not end in a newline");
  return text
    .slice(0, -1)
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
