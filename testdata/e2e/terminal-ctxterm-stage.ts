// A real `ctxterm` in a folder of its own, and the clients that a test sends to it.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TerminalRecord } from "../../internal/terminal-wire/mod.ts";
import { TerminalClient } from "./terminal-ctxterm-client.ts";
import { dist } from "./world.ts";

export const ctxterm = join(dist, "ctxterm");

export interface RunningTerminal {
  readonly pid: number;
  readonly exited: Promise<number>;
  readonly stderr: Promise<string>;
  kill(signal: NodeJS.Signals): void;
}

export class CtxtermStage {
  readonly folder = mkdtempSync(join(tmpdir(), "ctxterm-"));
  readonly socket = join(this.folder, "main.sock");
  readonly log = join(this.folder, "events.jsonl");
  readonly #running: { kill(signal: NodeJS.Signals): void; exited: Promise<number> }[] = [];
  readonly #clients: TerminalClient[] = [];

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Starts one with this shell text as its child; does not wait for it. */
  start(script: string, args: readonly string[] = [], socket = this.socket): RunningTerminal {
    return this.run([ctxterm, "--listen", socket, ...args, "--", "/bin/sh", "-c", script]);
  }

  run(argv: readonly string[]): RunningTerminal {
    const child = Bun.spawn([...argv], {
      ...{ cwd: this.folder, env: { PATH: "/usr/bin:/bin", TERM: "xterm-256color" } },
      ...{ stdin: "ignore", stdout: "ignore", stderr: "pipe" },
    });
    this.#running.push(child);
    const stderr = new Response(child.stderr).text();
    return { pid: child.pid, exited: child.exited, stderr, kill: (signal) => child.kill(signal) };
  }

  /** Connects as soon as somebody listens. */
  async join(first: string, socket = this.socket): Promise<TerminalClient> {
    const until = Date.now() + 30_000;
    for (;;) {
      const client = await TerminalClient.connect(socket, first).catch(() => undefined);
      if (client !== undefined) {
        this.#clients.push(client);
        return client;
      }
      if (Date.now() > until) throw new Error(`nobody listens at ${socket}`);
      await Bun.sleep(5);
    }
  }

  records(): TerminalRecord[] {
    const lines = readFileSync(this.log, "utf8").trimEnd().split("\n");
    return lines.map((line) => JSON.parse(line) as TerminalRecord);
  }

  async end(): Promise<void> {
    for (const client of this.#clients) client.close();
    for (const child of this.#running) child.kill("SIGKILL");
    await Promise.all(this.#running.map(({ exited }) => exited));
    rmSync(this.folder, { recursive: true, force: true });
  }
}
