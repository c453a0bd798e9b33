// A world with the tools of a small server: projected, installed and allowed by the programs themselves,
// as a person would.

import { appendFileSync, chownSync, copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { Run } from "./terminal-calls-world.ts";
import { isRoot, World } from "./world.ts";

const script = resolve(import.meta.dir, "../mcp/plain_server.py");

/** Where the agent finds the server: python is the system's, the program in the workspace. */
export const entry = { command: "/usr/bin/python3", args: ["/workspace/plain_server.py"] };

/** What waits for a next run is gone soon, so that it is no leftover. */
export const mcpSettings = ["--set", "session_idle_ms=500", "--set", "tool_timeout_ms=20000"];

export class McpWorld extends World {
  readonly config = join(this.base, "mcp.json");
  readonly manifests = join(this.base, "manifests");

  /** A tree with the server's tools projected. */
  async project(): Promise<void> {
    await this.bootstrap();
    this.bring(script);
    this.describe({ plain: entry });
    const host = { command: "/usr/bin/python3", args: [script] };
    writeFileSync(this.config, JSON.stringify({ mcpServers: { plain: host } }));
    await this.must("ctx", "set", "agent/coder.d/model", "debug/script");
    await this.must(
      ...["ctxmcp", "project", "--config", this.config, "--server", "plain"],
      ...["--runtime-config", "/workspace/.mcp.json", "--out", this.manifests],
    );
  }

  /** The configuration that the agent's view has. */
  describe(servers: Record<string, object>): void {
    this.write(".mcp.json", JSON.stringify({ mcpServers: servers }));
  }

  /** A file of the workspace, the agent's own. */
  write(name: string, text: string): void {
    const path = join(this.workspace, name);
    writeFileSync(path, text);
    if (isRoot) chownSync(path, this.uid, this.uid);
  }

  bring(file: string): void {
    copyFileSync(file, join(this.workspace, basename(file)));
  }

  async install(tool: string, ...more: string[]): Promise<string> {
    const manifest = join(this.manifests, `plain.${tool}.manifest.json`);
    return this.must("ctx", "object", "install", "--source", this.source, manifest, ...more);
  }

  /** The two lines that a person adds. */
  allow(name: string): void {
    const line = `allow coder_t tool:${name} execute\n`;
    appendFileSync(join(this.source, "agent/coder.d/policy"), line);
    appendFileSync(join(this.source, `tool/${name}.d/policy`), line);
  }

  /** Takes one of them back. */
  forbid(name: string, file: string): void {
    const path = join(this.source, file);
    const line = `allow coder_t tool:${name} execute\n`;
    writeFileSync(path, readFileSync(path, "utf8").replace(line, ""));
  }

  async must(...argv: string[]): Promise<string> {
    const done = await this.run(argv);
    if (done.exit !== 0) throw new Error(`${argv.join(" ")}: ${done.stdout}${done.stderr}`);
    return done.stdout;
  }

  /** What the calls of one run came to; each is a tool of the server and its input. */
  call(session: string, ...calls: (readonly [string, object])[]) {
    const lines = calls.map(([tool, input]) => {
      return `@call tsh ${JSON.stringify({ args: [`plain.${tool}`, JSON.stringify(input)] })}`;
    });
    return new Run(this, session, lines).results();
  }
}
