// Runs the programs in a throw-away tree, as a person would call them: from source, or as they were
// built, which start six times faster, where CTX_TEST_PROGRAMS names their folder.

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const repository = resolve(import.meta.dir, "../..");

/** Uid of the agents: an ordinary one also when the tests run as root. */
export const ownerUid = process.getuid?.() === 0 ? 61184 : (process.getuid?.() ?? 0);

/** The start of a command line. */
function commandOf(program: string): string[] {
  const built = process.env["CTX_TEST_PROGRAMS"];
  if (built !== undefined) return [join(built, program)];
  return [process.execPath, join(repository, "cmd", program, "main.ts")];
}

export interface Ended {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly input?: string;
  readonly cwd?: string;
}

export class Place {
  readonly base = mkdtempSync("/tmp/ctx-cli-");
  readonly source = join(this.base, "tree");
  readonly work = join(this.base, "work");
  readonly env: Readonly<Record<string, string>> = {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: join(this.base, "home"),
    CTX_SOURCE: this.source,
    CTX_RUNTIME_DIR: join(this.base, "run"),
    CTX_CONFIG_DIR: join(this.base, "config"),
    CTX_SECRETS_DIR: join(this.base, "secrets"),
  };

  constructor() {
    chmodSync(this.base, 0o755);
    for (const name of ["home", "work", "programs"]) mkdirSync(join(this.base, name));
    for (const name of ["ctx", "tsh", "ctxterm", "ctxmcp", "ctxd"]) {
      const path = join(this.base, "programs", name);
      writeFileSync(path, "#!/bin/sh\nexit 0\n");
      chmodSync(path, 0o755);
    }
  }

  spawn(argv: readonly string[], options: RunOptions = {}) {
    const [program, ...rest] = argv;
    return Bun.spawn([...commandOf(program as string), ...rest], {
      cwd: options.cwd ?? this.work,
      env: { ...this.env, ...options.env },
      stdin: options.input === undefined ? "ignore" : new TextEncoder().encode(options.input),
      stdout: "pipe",
      stderr: "pipe",
    });
  }

  async run(argv: readonly string[], options: RunOptions = {}): Promise<Ended> {
    const child = this.spawn(argv, options);
    const [out, err, exit] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { exit, out, err };
  }

  ctx(...argv: string[]): Promise<Ended> {
    return this.run(["ctx", ...argv]);
  }

  async bootstrap(): Promise<void> {
    const owner = process.getuid?.() === 0 ? ["--owner", String(ownerUid)] : [];
    const programs = ["--programs", join(this.base, "programs")];
    const { exit, err } = await this.ctx("bootstrap", ...owner, ...programs);
    if (exit !== 0) throw new Error(`bootstrap failed: ${err}`);
  }

  remove(): void {
    rmSync(this.base, { recursive: true, force: true });
  }
}
