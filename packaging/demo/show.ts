// Runs commands where a person can watch: each is printed as it would be typed, its output passes
// through as it comes, and what was seen is handed back for the checks at the end.

import { join } from "node:path";
import type { Stage } from "./stage.ts";

/** A command of the demonstration may take this long; a model far away needs its time. */
const commandSecondsMax = 600;

export interface Seen {
  readonly exit: number;
  /** Standard output and standard error as they came. */
  readonly out: string;
  /** When each piece came, in milliseconds after the start. */
  readonly pieces: readonly { readonly text: string; readonly ms: number }[];
}

export class Show {
  readonly #stage: Stage;
  readonly #bold: boolean;
  #child: ReturnType<typeof Bun.spawn> | undefined;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#bold = process.stdout.isTTY === true && process.env["NO_COLOR"] === undefined;
  }

  /** What happens next, for the person. */
  say(text: string): void {
    process.stdout.write(this.#bold ? `\n\x1b[1m${text}\x1b[0m\n` : `\n${text}\n`);
  }

  /** A line as it would be typed. */
  typed(line: string): void {
    process.stdout.write(`$ ${line}\n`);
  }

  /** Prints the command, runs it in the workspace and waits for its end. */
  async run(argv: readonly string[], cwd = this.#stage.workspace): Promise<Seen> {
    this.typed(argv.map(shellWord).join(" "));
    const begun = performance.now();
    const pieces: { text: string; ms: number }[] = [];
    // One pipe for both streams, so that they come in the order in which they were written.
    const child = Bun.spawn(["sh", "-c", 'exec "$0" "$@" 2>&1', ...argv], {
      cwd,
      env: this.#stage.env,
      stdin: "ignore",
      stdout: "pipe",
    });
    this.#child = child;
    const timer = setTimeout(() => child.kill("SIGKILL"), commandSecondsMax * 1000);
    const decoder = new TextDecoder();
    let out = "";
    for await (const bytes of child.stdout) {
      const text = decoder.decode(bytes, { stream: true });
      pieces.push({ text, ms: performance.now() - begun });
      out += text;
      process.stdout.write(bytes);
    }
    await child.exited;
    clearTimeout(timer);
    this.#child = undefined;
    return { exit: child.exitCode ?? 128, out, pieces };
  }

  /** Stops what is running now, so that leaving does not wait for it. */
  interrupt(): void {
    this.#child?.kill("SIGTERM");
  }
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** A path as it is printed: what is below the stage keeps its own name. */
export function below(stage: Stage, ...names: string[]): string {
  return join(stage.base, ...names);
}
