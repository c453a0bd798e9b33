// A world with agents that are programs of `testdata/agents`, and what a foreign client sees of them.

import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { RawClient } from "./raw-client.ts";
import { isRoot, World } from "./world.ts";

export const top = resolve(import.meta.dir, "../..");

export class ProgramWorld extends World {
  readonly #opened: RawClient[] = [];

  give(path: string, mode: number): void {
    chmodSync(path, mode);
    if (isRoot) chownSync(path, this.uid, this.uid);
  }

  write(relative: string, text: string, mode = 0o644): void {
    const path = join(this.source, relative);
    writeFileSync(path, text);
    this.give(path, mode);
  }

  read(relative: string): string {
    return readFileSync(join(this.source, relative), "utf8");
  }

  /** An agent with the coder's controls and a program of `testdata/agents`. */
  makeAgent(name: string, program: string, controls: Record<string, string> = {}): void {
    const from = join(this.source, "agent/coder.d");
    const folder = join(this.source, `agent/${name}.d`);
    mkdirSync(folder);
    this.give(folder, 0o755);
    const own = new Set(["log", "status", "pid", "meta.json", "system.md", "prompt.template.md"]);
    for (const control of readdirSync(from).filter((one) => !own.has(one))) {
      if (!statSync(join(from, control)).isFile()) continue;
      this.write(`agent/${name}.d/${control}`, readFileSync(join(from, control), "utf8"));
    }
    for (const [control, text] of Object.entries(controls)) {
      this.write(`agent/${name}.d/${control}`, text);
    }
    copyFileSync(join(top, "testdata/agents", program), join(this.source, "agent", name));
    this.give(join(this.source, "agent", name), 0o755);
  }

  connect(agent: string): RawClient {
    const client = new RawClient(join(this.source, `agent/${agent}.sock`), this.uid);
    this.#opened.push(client);
    return client;
  }

  /** `id` is the request's, of which each agent takes one once. */
  send(agent: string, session: string, input: string, id = `msg-${session}`): RawClient {
    const { workspace } = this;
    return this.connect(agent).send({ op: "send", id, session, input, workspace });
  }

  /** What the session's files say of its runs, without times and ids. */
  recorded(agent: string, session: string): string[] {
    return this.events(session, agent).flatMap(({ type, code, status, role }) => {
      switch (type) {
        case "session.open":
        case "request.accepted":
        case "run.start":
          return [];
        case "message":
          return [`${role}`];
        default:
          return [[type, code ?? status].filter((part) => part !== undefined).join(" ")];
      }
    });
  }

  override async destroy(): Promise<void> {
    for (const client of this.#opened) client.end();
    await super.destroy();
  }
}

/** The text of the run's one message. */
export function answerOf(client: RawClient): string | undefined {
  const said = client.frames.find(({ type, role }) => type === "message" && role === "assistant");
  return (said?.["content"] as { text: string }[] | undefined)?.[0]?.text;
}
