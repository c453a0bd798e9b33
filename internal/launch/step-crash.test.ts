// The gates of a step: whoever is killed with SIGKILL before they open, the program has not run and no
// process is left. The launch root is bubblewrap's outer process.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { configurations, whyNot } from "../../testdata/sandbox/configurations.ts";
import type { Scene } from "../../testdata/sandbox/scene.ts";

const missing = whyNot();
if (missing !== undefined) console.log(`SKIP killed steps: ${missing}`);

const holder = new URL("../../testdata/sandbox/hold-step.ts", import.meta.url).pathname;

/** Kills of each kind, in each way of running an agent. */
const kills = process.env["CTX_LONG"] === "1" ? 100 : 2;
/** Every so many is killed once it stands, the one after it before any gate opens. */
const standingEvery = 4;
const slowMs = 3_600_000;
/** Past it a process that should have ended counts as one that never will. */
const waitMsMax = 20_000;

const victims = ["the server", "the launch root", "both, the server first", "both, the root first"];

for (const configuration of configurations) {
  describe.skipIf(missing !== undefined)(`a step before its gate (${configuration.name})`, () => {
    const agent = `step-${process.pid}-${configuration.kernelUid}`;
    let scene: Scene;
    let wholeMs = 0;
    beforeAll(async () => {
      scene = configuration.scene();
      const program = join(scene.source, "agent", agent);
      writeFileSync(program, "#!/bin/sh\ntouch /workspace/ran\n");
      chmodSync(program, 0o755);
      const held = await hold();
      const begun = performance.now();
      await held.until(/standing/);
      wholeMs = performance.now() - begun;
      await held.end();
    });
    afterAll(() => rmSync(scene.base, { recursive: true, force: true }));

    async function hold(paused = false) {
      const argv = [process.execPath, holder, JSON.stringify(scene), agent];
      const child = Bun.spawn([...configuration.as, ...argv, ...(paused ? ["pause"] : [])], {
        stdin: "pipe",
        stdout: "pipe",
        stderr: "inherit",
        env: { HOME: "/tmp", PATH: "/usr/bin:/bin" },
      });
      const lines = new Lines(child.stdout);
      await lines.until(/root [0-9]+\n/);
      return {
        root: Number(/root ([0-9]+)/.exec(lines.text)?.[1]),
        server: child.pid,
        until: (word: RegExp) => lines.until(word),
        resume: () => child.stdin.end(),
        async end() {
          kill(child.pid);
          await child.exited;
          return await lines.rest();
        },
        exited: child.exited,
      };
    }

    /** Waits until a server that lives on is told of it and is the only process left. */
    async function alone({ server, until }: Awaited<ReturnType<typeof hold>>) {
      await until(/standing|failed/);
      const others = () => processesOf(agent).filter((pid) => pid !== `${server}`);
      await none(others);
      expect(others()).toEqual([]);
    }

    for (const victim of victims) {
      test(
        `has run nothing and leaves nothing when ${victim} is killed`,
        async () => {
          let stood = 0;
          for (let round = 0; round < kills; round += 1) {
            // One of each kind stands, one has told its pid and opened nothing; the others are hit
            // at moments spread over the time in between.
            const held = await hold(round % standingEvery === 1);
            if (round % standingEvery === 0) await held.until(/standing/);
            if (round % standingEvery > 1) await Bun.sleep((round / kills) * wholeMs);
            if (victim !== "the launch root" && !victim.endsWith("root first")) kill(held.server);
            if (victim !== "the server") kill(held.root);
            if (victim.endsWith("root first")) kill(held.server);
            held.resume();
            if (victim === "the launch root") await alone(held);
            const said = await held.end();
            if (said.includes("standing")) stood += 1;
          }
          await none(() => processesOf(agent));
          expect(processesOf(agent)).toEqual([]);
          expect(readdirSync(scene.workspace)).toEqual([]);
          expect(stood).toBeGreaterThanOrEqual(kills / standingEvery);
          // Those that were paused can never have stood.
          expect(stood).toBeLessThan(kills);
        },
        slowMs,
      );
    }
  });
}

class Lines {
  text = "";
  readonly #reader: { read(): Promise<{ done: boolean; value?: Uint8Array | undefined }> };

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader();
  }

  async until(word: RegExp): Promise<void> {
    while (!word.test(this.text)) {
      if (!(await this.#more())) throw new Error(`${word} never came, but: ${this.text}`);
    }
  }

  async rest(): Promise<string> {
    while (await this.#more());
    return this.text;
  }

  async #more(): Promise<boolean> {
    const { done, value } = await this.#reader.read();
    if (value !== undefined) this.text += new TextDecoder().decode(value);
    return !done;
  }
}

/** Waits until there is none, or for so long that there will always be some. */
async function none(look: () => readonly string[]): Promise<void> {
  const end = performance.now() + waitMsMax;
  while (look().length > 0 && performance.now() < end) await Bun.sleep(10);
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended by itself.
  }
}

/** The agent's name stands in every command line of a launch of it, and in the holder's. */
function processesOf(agent: string): string[] {
  return readdirSync("/proc").filter((name) => {
    if (!/^[0-9]+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, "utf8").includes(agent);
    } catch {
      return false;
    }
  });
}
