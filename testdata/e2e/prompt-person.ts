// A person who runs one command in a pseudo-terminal, within a shell that goes on after it: so it is
// seen how the command leaves the terminal and what it leaves unread.

import { expect } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { dist, type World } from "./world.ts";

const script = [
  'tty > "$0.tty"; stty -a > "$0.before"',
  `sh -c 'echo $$ > "$0.pid"; exec "$@"' "$0" "$@"; echo "ended with $?"`,
  // A process that was killed leaves the putting back to another one.
  "until stty -a | grep -q ' icanon'; do sleep 0.01; done; stty -a > \"$0.after\"",
  'read -r line; echo "read [$line]"',
].join("\n");

/** A shell in a pseudo-terminal that runs one command, says how it ended and then reads a line. */
export class PromptPerson {
  screen = "";
  readonly #child: Bun.Subprocess;
  readonly #file: string;
  #changed = Promise.withResolvers<void>();
  #drained = Promise.withResolvers<void>();

  constructor(world: World, words: readonly string[], redirect = "") {
    this.#file = join(world.base, crypto.randomUUID());
    const run = script.replace('"$@"; echo', `"$@" ${redirect}; echo`);
    this.#child = Bun.spawn(["bash", "-c", run, this.#file, join(dist, "ctx"), ...words], {
      cwd: world.base,
      env: { ...world.env, TERM: "xterm-256color" },
      terminal: {
        cols: 100,
        rows: 30,
        drain: () => this.#drained.resolve(),
        data: (_terminal, bytes) => {
          this.screen += Buffer.from(bytes).toString();
          this.#changed.resolve();
          this.#changed = Promise.withResolvers();
        },
      },
    });
  }

  async sees(text: string): Promise<void> {
    await this.until(() => this.screen.includes(text), `"${text}" to be seen`);
  }

  async until(holds: () => boolean, what: string): Promise<void> {
    const late = performance.now() + 20_000;
    while (!holds()) {
      await Promise.race([this.#changed.promise, Bun.sleep(20)]);
      if (performance.now() < late) continue;
      throw new Error(`waited for ${what}: ${JSON.stringify(this.screen.slice(-1000))}`);
    }
  }

  /** Resolves when the terminal has it. */
  async type(text: string): Promise<void> {
    this.#drained = Promise.withResolvers();
    this.#child.terminal?.write(text);
    await this.#drained.promise;
  }

  /** The shell's read gets this line and nothing that was typed before it. */
  async goesOn(): Promise<void> {
    await this.until(() => existsSync(`${this.#file}.after`), "modes to be put back");
    await this.type("next\r");
    await this.sees("read [next]");
    expect(readFileSync(`${this.#file}.after`, "utf8")).toBe(
      readFileSync(`${this.#file}.before`, "utf8"),
    );
    expect(await this.#child.exited).toBe(0);
  }

  get program(): number {
    return Number(readFileSync(`${this.#file}.pid`, "utf8"));
  }

  /** Types, and resolves when the program has read it: what it has not read a shell would get. */
  async typeRead(text: string): Promise<void> {
    const before = this.#bytesRead();
    await this.type(text);
    await this.until(() => this.#bytesRead() >= before + text.length, "the program to read");
  }

  #bytesRead(): number {
    const counts = readFileSync(`/proc/${this.program}/io`, "utf8");
    return Number(/^rchar: (\d+)$/m.exec(counts)?.[1]);
  }

  stty(...words: string[]): string {
    const tty = readFileSync(`${this.#file}.tty`, "utf8").trim();
    return Bun.spawnSync(["stty", "-F", tty, ...words]).stdout.toString();
  }

  leave(): void {
    this.#child.kill("SIGKILL");
    this.#child.terminal?.close();
  }
}
