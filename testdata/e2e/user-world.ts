// A world that is a user's own, also when the tests run as root: the tree, the runtime folder and every
// program are an unprivileged uid's, and `ctx` starts the server by itself.

import { chmodSync, chownSync } from "node:fs";
import { join } from "node:path";
import { dist, type Finished, isRoot, World } from "./world.ts";

export class UserWorld extends World {
  constructor() {
    super();
    if (!isRoot) return;
    for (const name of ["current", "work", "run", "config", "secrets", "home"]) {
      chownSync(join(this.base, name), this.uid, this.uid);
    }
    chmodSync(join(this.base, "run"), 0o700);
  }

  override run(
    argv: readonly string[],
    options: Parameters<World["run"]>[1] = {},
  ): Promise<Finished> {
    const [program = "", ...rest] = argv;
    return this.runAny([join(dist, program), ...rest], options);
  }

  /** Runs any program of the machine as the user. */
  async runAny(
    argv: readonly string[],
    options: Parameters<World["run"]>[1] = {},
  ): Promise<Finished> {
    const id = String(this.uid);
    const as = ["setpriv", `--reuid=${id}`, `--regid=${id}`, "--clear-groups", "--"];
    const child = Bun.spawn([...(isRoot ? as : []), ...argv], {
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

  override async bootstrap(): Promise<void> {
    const done = await this.run(["ctx", "bootstrap", this.source]);
    if (done.exit !== 0) throw new Error(`bootstrap failed: ${done.stdout}${done.stderr}`);
  }

  /** The server that `ctx` started is stopped by its pid. */
  override async destroy(): Promise<void> {
    const { stdout } = await this.run(["ctx", "status", "--json"]);
    const { pid } = JSON.parse(stdout || "{}") as { pid?: number | null };
    if (pid) process.kill(pid, "SIGTERM");
    await super.destroy();
  }
}
