// A world with the agent "prog", whose program the fake launcher plays.

import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Invocation } from "../envelope/mod.ts";
import { printing } from "./fake-launcher.ts";
import { TestWorld } from "./fakes.ts";

export class ProgramWorld extends TestWorld {
  readonly program = join(this.source, "agent/prog");

  /** The agent as new, with the controls of the bootstrapped coder. */
  override reset(): void {
    super.reset();
    const folder = join(this.source, "agent/prog.d");
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const controls = "owner uid gid groups perm label path policy abi model window".split(" ");
    for (const control of controls) {
      const from = join(this.source, "agent/coder.d", control);
      if (existsSync(from)) writeFileSync(join(folder, control), readFileSync(from));
    }
    writeFileSync(join(folder, "tools"), "fs.read\nfs.write\n");
    writeFileSync(this.program, "#!/bin/sh\n", { mode: 0o755 });
    chmodSync(this.program, 0o755);
  }

  /** Plays one list of frames a step, and the last one for all further steps. */
  readonly play = (...steps: readonly (readonly object[])[]): void => {
    this.launcher.program = (request, io) => {
      const frames = steps[Math.min(request.step, steps.length - 1)] ?? [];
      return printing(...frames)(request, io);
    };
  };

  /** What each step was told. */
  readonly invocations = (): Invocation[] =>
    this.launcher.steps.map(({ stdin }) => JSON.parse(new TextDecoder().decode(stdin)));
}

export function calling(id: string, name = "fs.read", args: object = { path: "a" }): object {
  return { type: "tool_call", id, name, args };
}
